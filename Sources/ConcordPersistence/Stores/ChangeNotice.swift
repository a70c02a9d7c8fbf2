import ConcordModel

/// A notice of changes that waits to be delivered to observers of the stores.
enum ChangeNotice: Sendable {
  /// Rows were inserted, changed or removed, by the commits that were announced with the given numbers.
  case rows([[EntityKey]], announcements: [Int])
  /// Another change, by the commits that were announced with the given numbers.
  case other(StoreChange, announcements: [Int] = [])

  /// Merges two notices, for observers that show the newest state. Keys are not compared.
  static func merged(_ a: ChangeNotice, _ b: ChangeNotice) -> ChangeNotice? {
    guard case .rows(let first, let numbers) = a, case .rows(let second, let others) = b else { return nil }
    return .rows(first + second, announcements: numbers + others)
  }

  var isOther: Bool {
    if case .other = self { true } else { false }
  }

  var announcements: [Int] {
    switch self {
    case .rows(_, let announcements), .other(_, let announcements): announcements
    }
  }

  var change: StoreChange {
    switch self {
    case .rows(let batches, _): .entities(batches.reduce(into: []) { $0.formUnion($1) })
    case .other(let change, _): change
    }
  }
}
