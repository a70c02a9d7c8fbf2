public import Foundation

/// What can be wrong with data, a model or a store. Each says what, which and why.
public enum StoreError: Error, Sendable {
  /// Something else is stored than the type can be read from.
  case unreadable(StoredValue, as: Any.Type)
  /// A column of a row cannot be read.
  case unreadableColumn(entity: String, id: String, column: String, reason: String)
  /// A wrapper has no such case.
  case unknownCase(String, of: Any.Type)
  /// A row refers to an entity that is not stored.
  case danglingReference(entity: String, id: String)
  /// What a type says of its row and what it writes differ.
  case misdescribed(entity: String, reason: String)
  /// No model is registered under the name.
  case unknownModel(String)
  /// The model declares no configuration of that name; those that it declares.
  case unknownConfiguration(String, model: String, declared: [String])
  /// A model holds together wrongly.
  case invalidModel(model: String, reason: String)
  /// No attached store keeps entities of the type.
  case noStore(entity: String)
  /// The type does not belong to the model.
  case unknownEntity(String)
  /// The store was detached, or its file closed.
  case detached(store: String)
  /// The store is attached already, or its file is.
  case alreadyAttached(store: String)
  /// Another entity has the same value in a unique column.
  case notUnique(entity: String, columns: String)
  /// The entity is not stored.
  case notFound(entity: String, id: String)
  /// Two contexts changed the same, and the merge policy is to say so.
  case conflict(entity: String, id: String, properties: [String])
  /// The tables of a file are not those of the model.
  case incompatibleStore(store: String, differences: [String])
  /// The file is of a newer model, which this one does not know: it was when it was attached, or was migrated since.
  case newerStore(store: String)
  /// The file belongs to another program: what it is, as in "a Core Data file".
  case foreignStore(store: String, kind: String)
  /// The file was removed, replaced or emptied while it was open.
  case replacedStore(store: String)
  /// The attached store named first has rows of entities that belong into the other one: the names of the entities.
  case keptElsewhere(store: String, in: String, entities: [String])
  /// The file is no SQLite file, or damaged.
  case damagedStore(store: String, reason: String)
  /// The disk is full.
  case diskFull(store: String)
  /// The store takes no such value, and never will: it is too large, or a trigger in the file is against it.
  case refused(store: String, reason: String)
  /// Others hold the file for longer than one waits.
  case locked(store: String)
  /// The store failed otherwise.
  case storeFailed(store: String, reason: String)
  /// There is no such type of store: the package trait `Persistence` brings SQLite, and others are registered.
  case unavailableStoreType(String)
}

extension StoreError {
  /// Whether an error concerns the store at this moment, and not what was to be written: the same may succeed later.
  package static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case StoreError.diskFull, StoreError.locked, StoreError.noStore, StoreError.detached, StoreError.storeFailed,
      StoreError.damagedStore, StoreError.newerStore, StoreError.replacedStore:
      true
    default: false
    }
  }
}

extension StoreError {
  /// Whether an error says that a store is gone.
  package static func isOfDetachedStore(_ error: any Error) -> Bool {
    switch error {
    case StoreError.noStore, StoreError.detached: true
    default: false
    }
  }
}

extension StoreError: LocalizedError, CustomStringConvertible {
  public var errorDescription: String? { description }

  public var description: String {
    switch self {
    case .unreadable(let stored, let type): "\(stored) cannot be read as \(type)"
    case .unreadableColumn(let entity, let id, let column, let reason): "\(entity) \(id), column '\(column)': \(reason)"
    case .unknownCase(let name, let type): "\(type) has no case '\(name)'"
    case .danglingReference(let entity, let id): "a row refers to \(entity) \(id), which is not stored"
    case .misdescribed(let entity, let reason): "\(entity) describes its row wrongly: \(reason)"
    case .unknownModel(let name): "no model is registered under the name '\(name)'"
    case .unknownConfiguration(let name, let model, let declared):
      "the model '\(model)' declares no configuration '\(name)'; it declares \(StoreError.list(declared))"
    case .invalidModel(let model, let reason): "the model '\(model)' is not valid: \(reason)"
    case .noStore(let entity): "no attached store keeps \(entity)"
    case .unknownEntity(let entity): "\(entity) does not belong to the model"
    case .detached(let store): "the store '\(store)' is not attached any longer"
    case .alreadyAttached(let store): "the store '\(store)' is attached already"
    case .notUnique(let entity, let columns): "another \(entity) has the same \(columns)"
    case .notFound(let entity, let id): "\(entity) \(id) is not stored"
    case .conflict(let entity, let id, let properties):
      "\(entity) \(id) was changed by another context: \(properties.joined(separator: ", "))"
    case .incompatibleStore(let store, let differences):
      "the store '\(store)' does not fit the model: \(differences.joined(separator: "; "))"
    case .newerStore(let store): "the store '\(store)' was migrated to a newer model"
    case .foreignStore(let store, let kind): "the store '\(store)' is not Concord's: it is \(kind)"
    case .replacedStore(let store): "the file of the store '\(store)' was removed or replaced while it was open"
    case .keptElsewhere(let store, let other, let entities):
      "the store '\(store)' has rows of \(StoreError.list(entities)), which belong into '\(other)'"
    case .damagedStore(let store, let reason): "the store '\(store)' cannot be read: \(reason)"
    case .diskFull(let store): "no space is left for the store '\(store)'"
    case .refused(let store, let reason): "the store '\(store)' refuses a value: \(reason)"
    case .locked(let store): "the store '\(store)' is held by others"
    case .storeFailed(let store, let reason): "the store '\(store)' failed: \(reason)"
    case .unavailableStoreType(StoreType.sqlite.rawValue):
      "stores of type '\(StoreType.sqlite)' are not built in: the package trait 'Persistence' is off"
    case .unavailableStoreType(let type):
      "there are no stores of type '\(type)': use '\(StoreType.sqlite)' or '\(StoreType.inMemory)', or register the type"
    }
  }

  /// As in `'A', 'B'`.
  private static func list(_ names: [String]) -> String {
    names.isEmpty ? "none" : names.map { "'\($0)'" }.joined(separator: ", ")
  }
}
