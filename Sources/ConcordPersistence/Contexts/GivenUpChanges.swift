import ConcordModel

/// The insertions of saves that were given up. A later change that refers to one of them cannot be written, either.
struct GivenUpChanges {
  /// The errors for which the saves of entities were given up.
  private var errors: [EntityKey: any Error] = [:]
  /// The changes to these entities.
  private(set) var changes = PendingChanges()

  /// The maximum number of entities that are kept.
  private static let most = 1000

  var isEmpty: Bool { errors.isEmpty }

  /// Forgets all if they are too many. Not while it is being looked for what depends on them.
  mutating func limit() { if errors.count > Self.most { self = GivenUpChanges() } }

  /// Adds a save.
  mutating func add(_ saved: PendingChanges, _ error: any Error) {
    for entry in saved.all where entry.change.row != nil {
      guard entry.change.baseRow == nil || errors[entry.key] != nil else { continue }
      errors[entry.key] = error
      changes.change(entry.key) { $0?.merged(with: entry.change, entry.key.entity) ?? entry.change }
    }
  }

  /// Removes entities that a later save inserts again.
  mutating func removeInserted(by saved: PendingChanges) {
    if errors.isEmpty { return }
    for entry in saved.all where entry.change.row != nil && errors[entry.key] != nil {
      errors[entry.key] = nil
      changes[entry.key] = nil
    }
  }

  /// Returns the error of a save that changes an entity that was never stored, or refers to one.
  ///
  /// - Returns: `nil` if it depends on nothing that was given up.
  func error(
    for saved: PendingChanges, in model: Model, isStored: (EntityKey) throws -> Bool
  ) rethrows -> (any Error)? {
    if errors.isEmpty { return nil }
    for entry in saved.all {
      guard let row = entry.change.row else { continue }
      var keys = entry.key.entity.targets.isEmpty ? [] : Array(entry.key.entity.referencedKeys(of: row, in: model))
      keys.append(entry.key)
      for key in keys {
        guard let error = errors[key] else { continue }
        // It may be inserted again, by the same save or by another context.
        if let change = saved[key], change.row != nil, change.baseRow == nil { continue }
        if try isStored(key) { continue }
        return error
      }
    }
    return nil
  }
}
