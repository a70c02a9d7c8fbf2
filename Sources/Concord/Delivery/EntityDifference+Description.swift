extension EntityDifference: CustomStringConvertible {
  /// The places of what was inserted, removed, moved and updated, of each the first ten: `inserted at 0, 3; moved 4 to 1`.
  public var description: String {
    let parts = [
      Self.places("inserted at", inserted) { "\($0.offset)" }, Self.places("removed at", removed) { "\($0.offset)" },
      Self.places("moved", moved) { "\($0.oldOffset) to \($0.offset)" },
      Self.places("updated at", updated) { "\($0.offset)" },
    ]
    return isEmpty ? "no difference" : parts.compactMap { $0 }.joined(separator: "; ")
  }

  private static func places<Place>(_ name: String, _ all: [Place], _ text: (Place) -> String) -> String? {
    if all.isEmpty { return nil }
    let most = 10
    let rest = all.count > most ? " and \(all.count - most) more" : ""
    return "\(name) \(all.prefix(most).map(text).joined(separator: ", "))\(rest)"
  }
}

extension EntityDifference.Change: CustomStringConvertible {
  public var description: String { "\(offset): \(element)" }
}

extension EntityDifference.Pair: CustomStringConvertible {
  public var description: String {
    oldOffset == offset ? "\(offset): \(old) → \(new)" : "\(oldOffset) to \(offset): \(old) → \(new)"
  }
}
