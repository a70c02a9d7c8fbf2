import ConcordModel

/// What a context has changed of one entity and has not saved.
struct PendingChange: Sendable {
  enum Base: Sendable {
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

/// All that a context has changed and has not saved, in the order in which it was first changed.
public struct PendingChanges: Sendable {
  /// In order; those that were taken back are still there until there are many.
  private var order: [EntityKey?] = []
  private var changes: [EntityKey: (change: PendingChange, position: Int)] = [:]
  /// All that were set or taken back since it was asked for.
  private(set) var touched: Set<EntityKey>?

  public init() {}

  public var isEmpty: Bool { changes.isEmpty }
  /// The entities that are changed.
  public var keys: [EntityKey] { order.compactMap { $0 } }

  subscript(key: EntityKey) -> PendingChange? {
    get { changes[key]?.change }
    set {
      touched?.insert(key)
      if let newValue {
        if let position = changes[key]?.position {
          changes[key] = (newValue, position)
        } else {
          changes[key] = (newValue, order.count)
          order.append(key)
        }
      } else if let (_, position) = changes.removeValue(forKey: key) {
        order[position] = nil
        if changes.count * 2 < order.count { compact() }
      }
    }
  }

  private mutating func compact() {
    order = keys
    for (position, key) in order.enumerated() { if let key { changes[key]?.position = position } }
  }

  /// Begins to note what is touched.
  mutating func noteTouched() { touched = [] }

  /// What was touched since the last call.
  mutating func takeTouched() -> Set<EntityKey> {
    defer { touched = [] }
    return touched ?? []
  }

  mutating func removeAll() {
    if touched != nil { touched?.formUnion(changes.keys) }
    order = []
    changes = [:]
  }

  /// Lays later changes over these.
  mutating func merge(_ later: PendingChanges) {
    for key in later.keys {
      guard let change = later[key] else { continue }
      self[key] = PendingChange(base: self[key]?.base ?? change.base, row: change.row, stamp: change.stamp)
    }
  }
}
