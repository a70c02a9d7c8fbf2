import ConcordModel

/// What a context has changed of one entity and has not saved.
struct PendingChange {
  enum Base {
    /// The row as the context found it first.
    case row(StoredRow)
    /// Nothing was known of the entity.
    case unknown
  }

  let base: Base
  /// The row as the context wants it; `nil` if it is to be removed.
  var row: StoredRow?
  /// When the context changed it last.
  var stamp: Stamp

  var baseRow: StoredRow? { if case .row(let row) = base { row } else { nil } }
}

/// All that a context has changed, in the order in which it was first changed.
struct PendingChanges {
  private(set) var keys: [EntityKey] = []
  private var changes: [EntityKey: PendingChange] = [:]

  var isEmpty: Bool { changes.isEmpty }

  subscript(key: EntityKey) -> PendingChange? {
    get { changes[key] }
    set {
      if changes.updateValue(newValue, for: key) { keys.append(key) }
      if newValue == nil { keys.removeAll { $0 == key } }
    }
  }
}

extension [EntityKey: PendingChange] {
  /// - Returns: whether the key is new.
  fileprivate mutating func updateValue(_ value: PendingChange?, for key: EntityKey) -> Bool {
    guard let value else {
      self[key] = nil
      return false
    }
    return updateValue(value, forKey: key) == nil
  }
}
