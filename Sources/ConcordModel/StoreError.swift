public import Foundation

/// An error in data, a model or a store, with what is wrong, where and why.
public enum StoreError: Error, Sendable {
  /// A stored value from which the type cannot be read.
  case unreadable(StoredValue, as: Any.Type)
  /// A column of a row that cannot be read.
  case unreadableColumn(entity: String, id: String, column: String, reason: String)
  /// A stored case that a wrapper's type does not have.
  case unknownCase(String, of: Any.Type)
  /// A reference to an entity that is not stored.
  case danglingReference(entity: String, id: String)
  /// A type that writes another row than it describes.
  case misdescribed(entity: String, reason: String)
  /// A name under which no model is registered.
  case unknownModel(String)
  /// A configuration that the model does not declare, with the names of those that it declares.
  case unknownConfiguration(String, model: String, declared: [String])
  /// A model that contradicts itself.
  case invalidModel(model: String, reason: String)
  /// An entity that no attached store keeps.
  case noStore(entity: String)
  /// A type that does not belong to the model.
  case unknownEntity(String)
  /// A store that was detached, or whose file was closed.
  case detached(store: String)
  /// A store or a file that is already attached.
  case alreadyAttached(store: String)
  /// A value of a unique column that another entity has.
  case notUnique(entity: String, columns: String)
  /// An entity that is not stored.
  case notFound(entity: String, id: String)
  /// A conflict of two contexts that changed the same entity, under the merge policy `error`.
  case conflict(entity: String, id: String, properties: [String])
  /// A file whose tables do not fit the model.
  case incompatibleStore(store: String, differences: [String])
  /// A file or database that was migrated to a newer model than this one, with the differences; without them if that happened while it was
  /// open.
  case newerStore(store: String, differences: [String] = [])
  /// A file of another program, with what it is, as in "a Core Data file".
  case foreignStore(store: String, kind: String)
  /// A file that was removed, replaced or emptied while it was open.
  case replacedStore(store: String)
  /// A store with rows of entities that belong into another attached store.
  case keptElsewhere(store: String, in: String, entities: [String])
  /// A file that is damaged, or no SQLite file.
  case damagedStore(store: String, reason: String)
  /// A predicate that has no answer for an entity: a number that is too large for its type, a division by zero, an unwrapped `nil`.
  case predicateFailed(entity: String, reason: String)
  /// A full disk.
  case diskFull(store: String)
  /// A value that the store will never take: it is too large, or a trigger in the file refuses it.
  case refused(store: String, reason: String)
  /// A file that another connection has locked for longer than the timeout.
  case locked(store: String)
  /// Any other failure of a store.
  case storeFailed(store: String, reason: String)
  /// A type of store that is not available: SQLite needs the package trait `Persistence`, further types have to be
  /// registered.
  case unavailableStoreType(String)
}

extension StoreError {
  /// Whether an error concerns the store at this moment, and not what was to be written, so that the same may succeed later.
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
  /// The difference between the version of a model with which a store was migrated and that of another one; none if they are equal.
  package static func versions(stored: Int, model: Int) -> [String] {
    stored == model ? [] : ["its version is \(stored), and the model's \(model)"]
  }

  /// The difference of a table that has all columns, of which the newer model means other columns by the same names.
  package static func exchanged(_ table: String) -> String { "\(table) has columns that were exchanged" }

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
    case .newerStore(let store, let differences):
      "the store '\(store)' was migrated to a newer model"
        + (differences.isEmpty ? "" : ": \(differences.joined(separator: "; "))")
    case .foreignStore(let store, let kind): "the store '\(store)' is not Concord's: it is \(kind)"
    case .replacedStore(let store): "the file of the store '\(store)' was removed or replaced while it was open"
    case .keptElsewhere(let store, let other, let entities):
      "the store '\(store)' has rows of \(StoreError.list(entities)), which belong into '\(other)'"
    case .predicateFailed(let entity, let reason): "a predicate has no answer for an entity of \(entity): \(reason)"
    case .damagedStore(let store, let reason): "the store '\(store)' cannot be read: \(reason)"
    case .diskFull(let store): "no space is left for the store '\(store)'"
    case .refused(let store, let reason): "the store '\(store)' refuses a value: \(reason)"
    case .locked(let store): "the store '\(store)' is held by others"
    case .storeFailed(let store, let reason): "the store '\(store)' failed: \(reason)"
    case .unavailableStoreType(StoreType.sqlite.rawValue):
      "stores of type '\(StoreType.sqlite)' are not built in: the package trait 'Persistence' is off"
    case .unavailableStoreType("PostgreSQL"):
      """
      stores of type 'PostgreSQL' are not built in: turn the package trait 'PostgreSQL' on, add the product \
      'ConcordPostgreSQL', and attach with the type '.postgreSQL'
      """
    case .unavailableStoreType(let type):
      "there are no stores of type '\(type)': use '\(StoreType.sqlite)' or '\(StoreType.inMemory)', or register the type"
    }
  }

  /// Returns names as a list: `'A', 'B'`.
  private static func list(_ names: [String]) -> String {
    names.isEmpty ? "none" : names.map { "'\($0)'" }.joined(separator: ", ")
  }
}
