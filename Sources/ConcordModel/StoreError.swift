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
  /// The file was migrated to a newer model, which this one does not know.
  case newerStore(store: String)
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
  /// There is no such type of store here: the package trait `Persistence` brings SQLite.
  case unavailableStoreType(String)
}

extension StoreError {
  /// Whether the tables of a file are not those of the model.
  package var isIncompatible: Bool {
    switch self {
    case .incompatibleStore, .newerStore: true
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
    case .damagedStore(let store, let reason): "the store '\(store)' cannot be read: \(reason)"
    case .diskFull(let store): "no space is left for the store '\(store)'"
    case .refused(let store, let reason): "the store '\(store)' refuses a value: \(reason)"
    case .locked(let store): "the store '\(store)' is held by others"
    case .storeFailed(let store, let reason): "the store '\(store)' failed: \(reason)"
    case .unavailableStoreType(let type): "stores of type '\(type)' are not built in: the trait 'Persistence' is off"
    }
  }
}
