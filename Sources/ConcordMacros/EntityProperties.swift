/// A placeholder for the struct that ``Entity(id:)`` is attached to, so that `\.isbn` can be written before that struct exists.
///
/// It has every property; the macro checks that the struct has the one that is named.
@dynamicMemberLookup
public struct EntityProperties: Sendable {
  private init() {}

  /// A property of any name, with properties of any name itself.
  public subscript(dynamicMember name: String) -> EntityProperties { self }
}
