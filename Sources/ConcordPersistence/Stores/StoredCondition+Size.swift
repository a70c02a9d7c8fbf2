import ConcordModel

/// A store's statements are limited in depth and in length: SQLite's expressions to a depth of 1,000, its parser to a stack of
/// 100. A predicate may have any size. What does not fit is evaluated in memory.
extension StoredCondition {
  /// Whether a statement may hold it.
  var fitsStatement: Bool {
    var room = 400
    return fits(depth: 12, &room)
  }

  private func fits(depth: Int, _ room: inout Int) -> Bool {
    guard depth > 0 else { return false }
    switch self {
    case .not(let condition): return condition.fits(depth: depth - 1, &room)
    case .all(let conditions), .any(let conditions):
      return conditions.allSatisfy { $0.fits(depth: depth - 1, &room) }
    default:
      room -= 1
      return room >= 0
    }
  }

  /// Both, without one more level for each of a row of conjunctions.
  static func all(_ a: StoredCondition, _ b: StoredCondition) -> StoredCondition {
    func parts(_ condition: StoredCondition) -> [StoredCondition] {
      if case .all(let parts) = condition { parts } else { [condition] }
    }
    return .all(parts(a) + parts(b))
  }

  /// One of them, in the same way.
  static func any(_ a: StoredCondition, _ b: StoredCondition) -> StoredCondition {
    func parts(_ condition: StoredCondition) -> [StoredCondition] {
      if case .any(let parts) = condition { parts } else { [condition] }
    }
    return .any(parts(a) + parts(b))
  }
}
