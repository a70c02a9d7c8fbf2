#if Inspector
  import Concord
  import Foundation

  /// An entity as the page names it.
  struct EntityReference: Encodable, Sendable, Hashable {
    /// The name of the type.
    let type: String
    /// The name of the type by which it is found.
    let key: String
    let id: String
    /// A hash that tells the entity from those whose ids have the same text, such as two dates within a second.
    let hash: String
  }

  /// The place of an entity in a list of those of its type: by numbers, or by texts.
  struct ListPosition: Comparable {
    let text: String
    private let number: Int?

    init(of id: AnyHashable) { (text, number) = (EntityTypes.text(of: id), id.base as? Int) }

    static func < (a: ListPosition, b: ListPosition) -> Bool {
      if let a = a.number, let b = b.number { return a < b }
      return a.text < b.text
    }
  }

  /// The types of entities that the inspector has seen, by their names.
  final class EntityTypes: Sendable {
    private let known = Locked(Known())

    private struct Known {
      var types: [String: ObjectIdentifier] = [:]
      var names: [ObjectIdentifier: (name: String, key: String)] = [:]
    }

    func add(_ type: any (Identifiable & Sendable).Type) {
      known.withLock { known in
        guard known.names[ObjectIdentifier(type)] == nil else { return }
        let key = String(reflecting: type)
        known.types[key] = ObjectIdentifier(type)
        known.names[ObjectIdentifier(type)] = (Self.name(of: type), key)
      }
    }

    func type(_ key: String) -> ObjectIdentifier? { known.withLock { $0.types[key] } }

    func names(of type: ObjectIdentifier) -> (name: String, key: String) {
      known.withLock { $0.names[type] } ?? ("?", "?")
    }

    func reference(_ key: InspectedKey) -> EntityReference {
      let names = names(of: key.type)
      return EntityReference(
        type: names.name, key: names.key, id: Self.text(of: key.id), hash: Self.hash(of: key.id))
    }

    /// Returns a reference to a value, if it is an entity.
    func reference(to value: Any) -> EntityReference? {
      guard let entity = value as? any Identifiable,
        let names = known.withLock({ $0.names[ObjectIdentifier(Swift.type(of: entity as Any))] })
      else { return nil }
      let id = Self.id(of: entity)
      return EntityReference(type: names.name, key: names.key, id: Self.text(of: id), hash: Self.hash(of: id))
    }

    private static func id(_ entity: some Identifiable) -> AnyHashable { AnyHashable(entity.id) }
    private static func id(of entity: any Identifiable) -> AnyHashable { id(entity) }

    /// The name of a type as its module knows it.
    static func name(of type: Any.Type) -> String { "\(type)" }

    static func text(of id: AnyHashable) -> String { text(ofValue: id.base) }

    static func text(ofValue value: Any) -> String {
      // The description of such a date ends the program.
      if let date = value as? Date, date.timeIntervalSinceReferenceDate.isNaN { return "nan" }
      return String(describing: value)
    }

    /// A text, since a script does not have whole numbers of this size.
    static func hash(of id: AnyHashable) -> String { "\(id.hashValue)" }

    /// The ids of the usual types that a text may stand for.
    static func ids(_ text: String) -> [AnyHashable] {
      var ids = [AnyHashable(text)]
      if let number = Int(text) { ids += [AnyHashable(number), AnyHashable(Int64(number))] }
      if let number = UInt64(text) { ids.append(AnyHashable(number)) }
      if let id = UUID(uuidString: text) { ids.append(AnyHashable(id)) }
      return ids
    }
  }
#endif
