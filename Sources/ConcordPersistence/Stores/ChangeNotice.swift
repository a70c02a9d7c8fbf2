import ConcordModel

/// What waits to be told to those who show what the stores have.
enum ChangeNotice: Sendable {
  /// The rows of these came, changed or went, by the commits that were announced with these numbers.
  case rows([[EntityKey]], announcements: [Int])
  case other(StoreChange)

  /// Two as one, for those who show the newest state anyway. No key is looked at.
  static func merged(_ a: ChangeNotice, _ b: ChangeNotice) -> ChangeNotice? {
    guard case .rows(let first, let numbers) = a, case .rows(let second, let others) = b else { return nil }
    return .rows(first + second, announcements: numbers + others)
  }

  var announcements: [Int] {
    switch self {
    case .rows(_, let announcements): announcements
    case .other: []
    }
  }

  var change: StoreChange {
    switch self {
    case .rows(let batches, _): .entities(batches.reduce(into: []) { $0.formUnion($1) })
    case .other(let change): change
    }
  }
}
