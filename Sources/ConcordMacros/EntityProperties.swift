/// Stands for the struct that ``Entity(id:)`` is attached to, so that `\.isbn` can be written before that struct exists.
///
/// It has every property; which of them the struct has is the macro's to check.
@dynamicMemberLookup
public struct EntityProperties: Sendable {
  private init() {}

  /// Any property, and any property of that.
  public subscript(dynamicMember name: String) -> EntityProperties { self }
}
