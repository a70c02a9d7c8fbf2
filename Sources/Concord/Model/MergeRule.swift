/// A rule by which an incoming value is merged with the stored one; see <doc:PartialValues>.
public struct MergeRule<Entity: Identifiable & Sendable> {
  let fields: [OptionalField<Entity>]

  /// The rule that keeps stored parts which the incoming value lacks: relations that are `nil` or empty, in the value and in
  /// all entities inside it, and the fields that a ``PartialEntity`` names.
  public static var ifPresent: MergeRule { MergeRule(fields: []) }

  /// Returns the rule ``ifPresent``, by which the given fields are also kept where the incoming value has `nil`.
  ///
  /// ```swift
  /// store.store(book, merging: .ifPresent(.init(\.summary), .init(\.price)))
  /// ```
  public static func ifPresent(_ fields: OptionalField<Entity>...) -> MergeRule { MergeRule(fields: fields) }
}

/// An entity of which an incoming value may lack some fields. Where such a field is `nil`, or an empty collection, storing with
/// ``MergeRule/ifPresent`` keeps the stored field.
///
/// ```swift
/// struct Book: Identifiable, PartialEntity {
///   let id: String
///   var title: String
///   var summary: String?
///   static var optionalFields: [OptionalField<Book>] { [.init(\.summary)] }
/// }
/// ```
///
/// Relations are kept in any case, and need not be listed.
public protocol PartialEntity: Identifiable, Sendable {
  /// The fields that an incoming value may lack.
  static var optionalFields: [OptionalField<Self>] { get }
}

/// A field that an incoming value may lack; see ``PartialEntity``.
public struct OptionalField<Root> {
  /// Replaces the first value's field by the second's, if the first lacks it. Returns whether it did.
  let fill: (inout Root, Root) -> Bool

  /// Creates a field that is missing where it is `nil`.
  public init<Value>(_ keyPath: WritableKeyPath<Root, Value?>) {
    fill = { value, stored in
      guard value[keyPath: keyPath] == nil, let present = stored[keyPath: keyPath] else { return false }
      value[keyPath: keyPath] = present
      return true
    }
  }

  /// Creates a field that is a collection, and missing where it is empty.
  public init<Value: Collection>(_ keyPath: WritableKeyPath<Root, Value>) {
    fill = { value, stored in
      guard value[keyPath: keyPath].isEmpty, !stored[keyPath: keyPath].isEmpty else { return false }
      value[keyPath: keyPath] = stored[keyPath: keyPath]
      return true
    }
  }
}
