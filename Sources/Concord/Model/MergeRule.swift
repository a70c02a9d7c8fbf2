/// How an incoming value and the stored one become one; see ``EntityStore/store(_:named:modifiedAt:merging:)``.
public struct MergeRule<Entity: Identifiable & Sendable> {
  let fields: [OptionalField<Entity>]

  /// What the incoming value lacks stays as it is stored: relations that are `nil` or empty, in the value and in all entities
  /// inside it, and the fields that a ``PartialEntity`` names.
  public static var ifPresent: MergeRule { MergeRule(fields: []) }

  /// The same, and these fields of the value stay where they are `nil`, too.
  ///
  /// ```swift
  /// store.store(book, merging: .ifPresent(.init(\.summary), .init(\.price)))
  /// ```
  public static func ifPresent(_ fields: OptionalField<Entity>...) -> MergeRule { MergeRule(fields: fields) }
}

/// An entity of which one may know a part only: where an incoming value has `nil`, or an empty collection, in one of these
/// fields, the stored one stays, if it is stored with ``MergeRule/ifPresent``.
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
/// Relations need not be named.
public protocol PartialEntity: Identifiable, Sendable {
  /// The fields that may be missing.
  static var optionalFields: [OptionalField<Self>] { get }
}

/// A field that may be missing in a value; see ``PartialEntity``.
public struct OptionalField<Root> {
  /// Replaces the first value's field by the second's, if the first lacks it; whether it did.
  let fill: (inout Root, Root) -> Bool

  /// A field that is missing where it is `nil`.
  public init<Value>(_ keyPath: WritableKeyPath<Root, Value?>) {
    fill = { value, stored in
      guard value[keyPath: keyPath] == nil, let present = stored[keyPath: keyPath] else { return false }
      value[keyPath: keyPath] = present
      return true
    }
  }

  /// A collection that is missing where it is empty.
  public init<Value: Collection>(_ keyPath: WritableKeyPath<Root, Value>) {
    fill = { value, stored in
      guard value[keyPath: keyPath].isEmpty, !stored[keyPath: keyPath].isEmpty else { return false }
      value[keyPath: keyPath] = stored[keyPath: keyPath]
      return true
    }
  }
}
