/// A ``ConsistentObject`` whose parts are known to the compiler, which merges without boxing, casts or text.
///
/// `@Entity` generates this conformance. For
/// ```swift
/// @Entity struct Book { let id: Int; var title: String; var author: Author; var reviews: [Review] }
/// ```
/// it writes
/// ```swift
/// extension Book: StaticallyConsistent {
///   var properties: [Property] {
///     [("id", id), ("title", title), ("author", author), ("reviews", reviews)]
///   }
///
///   func setting(property: Property) -> Book {
///     var copy = self
///     switch property.label {
///     case "title": if let value = property.value as? String { copy.title = value }
///     case "author": if let value = property.value as? Author { copy.author = value }
///     case "reviews": if let value = property.value as? [Review] { copy.reviews = value }
///     default: break
///     }
///     return copy
///   }
///
///   static func declareConsistentParts(in types: inout ConsistentTypes) {
///     types.include(\Self.title)
///     types.include(\Self.author)
///     types.include(\Self.reviews)
///   }
///
///   func visitConsistentParts(_ visitor: ConsistentVisitor) {
///     visitor.visit(title)
///     visitor.visit(author)
///     visitor.visit(reviews)
///   }
///
///   func mergingConsistentParts(_ merge: ConsistentMerge) -> Book? {
///     let title = merge.updated(self.title)
///     let author = merge.updated(self.author)
///     let reviews = merge.updated(self.reviews)
///     guard title != nil || author != nil || reviews != nil else { return nil }
///     var copy = self
///     if let title { copy.title = title }
///     if let author { copy.author = author }
///     if let reviews { copy.reviews = reviews }
///     return copy
///   }
/// }
/// ```
/// for every stored `var`. What a property can hold is found by overload resolution: `include`, `visit` and `updated`
/// exist for any type, and cost nothing where nothing can come of it. In `setting`, an optional property is read with
/// `property.value as? Author?`, which takes `nil` too.
///
/// **Identity.** The `id` of `Identifiable` may have any type here. Where it is no `String`, the `id: String` that
/// ``ConsistentObject`` requires comes from an extension of this protocol, so that nothing needs to be written for it:
/// `book.id` is an `Int`, `(book as any ConsistentObject).id` is its description. Merges compare the `Int`.
/// With `@Entity(id: \.isbn)` the macro writes `var id: <type of isbn> { isbn }`.
///
/// Properties of class types and existentials work as well, at the cost of a look at run time.
public protocol StaticallyConsistent: ConsistentObject, Identifiable {
  /// Declares the types that the properties can contain: one `types.include(\Self.property)` for each property.
  static func declareConsistentParts(in types: inout ConsistentTypes)

  /// Passes the properties to a visitor: one `visitor.visit(property)` for each property.
  func visitConsistentParts(_ visitor: ConsistentVisitor)

  /// Returns a copy whose properties are merged, one `merge.updated(property)` for each; `nil` if none of them changed.
  func mergingConsistentParts(_ merge: ConsistentMerge) -> Self?

  /// Returns elements after a merge; `nil` if it changes none of them. The default suffices.
  static func merged(all elements: [Self], by merge: ConsistentMerge) -> [Self]?
}

extension StaticallyConsistent {
  public var consistentID: AnyHashable { AnyHashable(identity(of: self)) }

  /// The identity as text, for types whose `id` is no `String`. Merges compare ``consistentID``.
  public var id: String { "\(consistentID)" }
}

/// `Identifiable`'s id, where ``ConsistentObject`` has another one of the same name.
@inlinable
func identity<Object: Identifiable>(of object: Object) -> Object.ID {
  object.id
}
