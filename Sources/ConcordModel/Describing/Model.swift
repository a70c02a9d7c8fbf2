import Foundation
import Synchronization

/// The entities that an app stores, and the configurations that they belong to.
///
/// ```swift
/// let model = try Model(
///   "Library", entities: [],
///   configurations: ["PersistentData": [Author.self, Book.self, Review.self], "TransientData": [Session.self]])
/// model.register()
/// ```
///
/// A store that is attached with the name of a configuration keeps the entities which that one lists; a name that is not declared is
/// refused. A store without a name keeps what no other attached one is meant for. A type may stand in several configurations: of the attached stores
/// that are meant for it, the one that was attached first keeps it. Listed twice in one, it counts once.
public final class Model: Sendable {
  /// The name of the model.
  public let name: String
  /// All entities, each once, in the given order; those that only a configuration lists come last.
  public let entities: [EntityDescription]
  /// The conversions of columns that an earlier model described differently.
  public let migrations: [ColumnMigration]
  /// The version of the model; 0 unless given.
  public let version: Int
  private let byType: [ObjectIdentifier: EntityDescription]
  private let byName: [String: EntityDescription]
  /// The entities of each declared configuration.
  private let configurations: [String: Set<EntityDescription>]
  /// The entities whose values may contain their own type, at any depth.
  private let recursive: Set<EntityDescription>
  /// For each entity, all entities that its values may contain, with the entity itself.
  private let contained: [EntityDescription: Set<EntityDescription>]
  /// For each entity, all that relations connect it with in either direction, directly or through other entities, with the entity itself.
  private let connected: [EntityDescription: Set<EntityDescription>]

  /// Creates a model, and checks it.
  ///
  /// A file that was migrated from a model is not migrated back to it, unless the version is higher than that of all models that
  /// were attached to the file: then a later version may have the earlier shape again.
  ///
  /// - Parameters:
  ///   - name: the name of the model, with which the names of files begin.
  ///   - types: the types of the entities. Those that stand in a configuration need not be listed.
  ///   - configurations: the types of the entities that each configuration keeps, by the name of the configuration.
  ///   - migrations: the conversions of columns that an earlier model described differently.
  ///   - version: the number of the model's version, from 0.
  /// - Throws: ``StoreError/invalidModel(model:reason:)``: two tables or columns with one name, a reference to an entity
  ///   that is not listed, an entity with relations that is not an `Aggregate`, a unique property of wrappers in a collection; a configuration
  ///   without a name, or with a name that cannot be a part of a file's, as one that is longer than 255 bytes.
  public init(
    _ name: String, entities types: [any PersistentEntity.Type],
    configurations: [String: [any PersistentEntity.Type]] = [:], migrations: [ColumnMigration] = [],
    version: Int = 0
  ) throws {
    var entities: [EntityDescription] = []
    var byType: [ObjectIdentifier: EntityDescription] = [:]
    for type in types + configurations.sorted(by: { $0.key < $1.key }).flatMap(\.value)
    where byType[ObjectIdentifier(type)] == nil {
      let entity = EntityDescription(type)
      byType[ObjectIdentifier(type)] = entity
      entities.append(entity)
    }
    self.name = name
    self.entities = entities
    self.migrations = migrations
    self.version = version
    self.byType = byType
    byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    self.configurations = configurations.mapValues { Set($0.compactMap { byType[ObjectIdentifier($0)] }) }
    if let reason = Model.problem(inConfigurations: configurations.keys.sorted()) ?? Model.problem(in: entities, byType)
    {
      throw StoreError.invalidModel(model: name, reason: reason)
    }
    let reached = Dictionary(uniqueKeysWithValues: entities.map { ($0, Model.reached(from: $0, byType)) })
    recursive = Set(entities.filter { reached[$0]?.contains($0) ?? false })
    let contained = Dictionary(uniqueKeysWithValues: reached.map { ($0, $1.union([$0])) })
    self.contained = contained
    connected = Model.connected(entities, contained)
  }

  /// Makes an empty model in place of one that is missing.
  package init(emptyNamed name: String) {
    self.name = name
    (entities, migrations, version, byType, byName) = ([], [], 0, [:], [:])
    (configurations, recursive, contained, connected) = ([:], [], [:], [:])
  }

  /// Returns the description of a type.
  ///
  /// - Throws: ``StoreError/unknownEntity(_:)``.
  public func entity(_ type: any PersistentEntity.Type) throws -> EntityDescription {
    guard let entity = byType[ObjectIdentifier(type)] else {
      throw StoreError.unknownEntity(String(describing: type))
    }
    return entity
  }

  /// Returns the description of a table; `nil` if the model has no such entity.
  public func entity(named name: String) -> EntityDescription? { byName[name] }

  /// Whether values of an entity may contain the same type, at any depth.
  package func isRecursive(_ entity: EntityDescription) -> Bool { recursive.contains(entity) }

  /// Returns all entities that values of an entity may contain, with the entity itself.
  package func contained(in entity: EntityDescription) -> Set<EntityDescription> { contained[entity] ?? [entity] }

  /// Returns all entities that relations connect with some entities in either direction, directly or through further entities, with these: all
  /// that a save or a removal of them may have to look at.
  package func connected(with entities: some Collection<EntityDescription>) -> Set<EntityDescription> {
    // Most models have one such group, which is not copied.
    guard let first = entities.first else { return [] }
    return entities.dropFirst().reduce(into: connected[first] ?? [first]) { found, entity in
      if !found.contains(entity) { found.formUnion(connected[entity] ?? [entity]) }
    }
  }

  private static func connected(
    _ entities: [EntityDescription], _ contained: [EntityDescription: Set<EntityDescription>]
  ) -> [EntityDescription: Set<EntityDescription>] {
    var groups: [Set<EntityDescription>] = []
    for entity in entities {
      var group = contained[entity] ?? [entity]
      groups.removeAll { other in
        if group.isDisjoint(with: other) { return false }
        group.formUnion(other)
        return true
      }
      groups.append(group)
    }
    return groups.reduce(into: [:]) { connected, group in for entity in group { connected[entity] = group } }
  }

  /// The names of the declared configurations.
  public var configurationNames: [String] { configurations.keys.sorted() }

  /// Checks that a configuration is declared; the empty name stands for none.
  ///
  /// - Throws: ``StoreError/unknownConfiguration(_:model:declared:)``.
  package func checkConfiguration(_ name: String) throws {
    guard name.isEmpty || configurations[name] != nil else {
      throw StoreError.unknownConfiguration(name, model: self.name, declared: configurationNames)
    }
  }

  /// Whether a store of a configuration is to keep an entity, while stores of the `attached` configurations are attached.
  package func isMeant(_ entity: EntityDescription, for configuration: String, attached: [String]) -> Bool {
    // What belongs to a user must not get into a store that all users share because the user's own is not attached.
    if !configuration.isEmpty { return configurations[configuration]?.contains(entity) ?? false }
    return !attached.contains { configurations[$0]?.contains(entity) ?? false }
  }

  /// Returns the entities that a store of a configuration may have to keep, and so has tables for.
  package func entities(in configuration: String) -> [EntityDescription] {
    configuration.isEmpty ? entities : entities.filter { isMeant($0, for: configuration, attached: []) }
  }
}

// MARK: Registered models

extension Model {
  private static let registered = Mutex<[String: Model]>([:])

  /// Registers the model under its name, for containers that are made with the name alone. Replaces an earlier model of the
  /// same name.
  public func register() { Model.registered.withLock { $0[name] = self } }

  /// Returns the model registered under a name; `nil` if there is none.
  public static func registered(_ name: String) -> Model? { registered.withLock { $0[name] } }
}

// MARK: Checks

extension Model {
  /// The names of files are made of those of configurations.
  private static func problem(inConfigurations names: [String]) -> String? {
    for name in names {
      if name.isEmpty { return "a configuration has no name, as stores have that belong to none: give it one" }
      if !name.isPartOfFileName || name.allSatisfy({ $0 == "." }) {
        return "the configuration '\(name)' has a name that cannot be a part of a file's: use another, without '/'"
      }
      if name.lowercased().canonicallyComposed.utf8.count > String.mostBytesOfFileName {
        return "the configuration '\(name)' has a name that cannot be a part of a file's: use a shorter one"
      }
    }
    return nil
  }

  private static func problem(in entities: [EntityDescription], _ known: [ObjectIdentifier: EntityDescription])
    -> String?
  {
    var tables: [String: String] = [:]
    func take(_ table: String, for owner: String) -> String? {
      // Names in SQLite are case-insensitive.
      if table.lowercased().hasPrefix("sqlite_") || table.lowercased().hasPrefix("concord_") {
        return "the name '\(table)' of \(owner) is taken by the store"
      }
      if let other = tables.updateValue(owner, forKey: table.lowercased()) {
        return "\(other) and \(owner) both need a table '\(table)'"
      }
      return nil
    }
    for entity in entities {
      if let problem = take(entity.name, for: entity.name) { return problem }
      for collection in entity.collections {
        if let problem = take("\(entity.name)_\(collection.name)", for: "\(entity.name).\(collection.name)") {
          return problem
        }
      }
      if let problem = problem(in: entity, known) { return problem }
    }
    return nil
  }

  private static func problem(in entity: EntityDescription, _ known: [ObjectIdentifier: EntityDescription]) -> String? {
    var names: Set<String> = entity.idPosition == nil ? ["id"] : []
    for column in entity.columns {
      if column.name.isEmpty || column.name.utf8.contains(0) {
        return "\(entity.name) has a property with the name '\(column.name)'"
      }
      if column.name.hasPrefix("_") { return "the name '\(column.name)' in \(entity.name) is taken by the store" }
      if !names.insert(column.name.lowercased()).inserted {
        return "\(entity.name) needs two columns '\(column.name)'"
      }
    }
    for collection in entity.collections {
      var names: Set<String> = []
      for column in collection.elements where !names.insert(column.name.lowercased()).inserted {
        return "\(entity.name).\(collection.name) needs two columns '\(column.name)'"
      }
    }
    for collection in entity.collections where collection.elements.contains(where: { $0.role == .count }) {
      return "\(entity.name).\(collection.name) holds wrappers that hold collections of entities"
    }
    for collection in entity.collections {
      guard let column = collection.elements.first(where: \.isUnique) else { continue }
      return "\(entity.name).\(collection.name) is a collection, in which '\(column.name)' cannot be unique"
    }
    for collection in entity.collections {
      guard let column = collection.elements.first(where: { $0.searchWeight != nil }) else { continue }
      return "\(entity.name).\(collection.name) is a collection, in which '\(column.name)' cannot be searchable"
    }
    if let problem = entity.problem { return "\(entity.name): \(problem)" }
    if !entity.targets.isEmpty, !entity.isAggregate { return "\(entity.name) has relations, but is no Aggregate" }
    for target in entity.targets where known[ObjectIdentifier(target)] == nil {
      return "\(entity.name) refers to \(target), which is not listed"
    }
    return nil
  }

  /// Returns the entities that a type's relations lead to, at any depth.
  private static func reached(
    from start: EntityDescription, _ known: [ObjectIdentifier: EntityDescription]
  ) -> Set<EntityDescription> {
    var found: Set<EntityDescription> = []
    var open = start.targets
    while let target = open.popLast() {
      guard let entity = known[ObjectIdentifier(target)], found.insert(entity).inserted else { continue }
      open += entity.targets
    }
    return found
  }
}
