#if Server
  import ConcordServer
  import Foundation

  /// Compares what devices have shown with what the server's store had at these positions, which its feed tells backwards from the end.
  final class FaultChecker {
    private let store: any RowStore
    private let carts: Set<EntityDescription>
    private let now: [Int64: DeviceMoment.Row]
    private var states: [String: [Int64: DeviceMoment.Row]] = [:]

    init(_ store: any RowStore, _ model: Model) throws {
      self.store = store
      carts = [try model.entity(Cart.self)]
      now = try store.read { reading in
        var found: [Int64: DeviceMoment.Row] = [:]
        try reading.rows(RowQuery(try model.entity(Cart.self))) { _, source in
          let row = DeviceMoment.row((0..<5).map { source.value(at: $0) })
          found[row.id] = row
          return true
        }
        return found
      }
    }

    /// - Returns: the violations of the law in the states that a device of a user had, one after the other.
    func violations(_ moments: [DeviceMoment], user: Int64) throws -> [String] {
      var found: [String] = []
      var last = Int64(-1)
      for moment in moments {
        if moment.isTorn { found.append("a row without what it contains at \(moment.position ?? "no position")") }
        guard let position = moment.position else { continue }
        let number = position.split(separator: ".").last.flatMap { Int64($0) } ?? -1
        if number < last { found.append("a step back from \(last) to \(number)") }
        last = max(last, number)
        guard let state = try state(at: position) else {
          found.append("the feed does not know \(position)")
          continue
        }
        let wanted = state.filter { $0.value.owner == user }
        let shown = Dictionary(moment.carts.map { ($0.id, $0) }) { first, _ in first }
        for (id, row) in wanted where shown[id] != row {
          found.append("cart \(id) is \(shown[id].map { "\($0)" } ?? "missing"), not \(row), at \(position)")
        }
        for id in shown.keys where wanted[id] == nil && !moment.kept.contains(id) {
          found.append("cart \(id) is not the device's business at \(position)")
        }
      }
      return found
    }

    private func state(at position: String) throws -> [Int64: DeviceMoment.Row]? {
      if let known = states[position] { return known }
      guard
        let changes = try store.read({
          try $0.changes(since: StorePosition(rawValue: position), of: carts, limit: .max)
        }),
        changes.hasBefore
      else { return nil }
      var state = now
      for change in changes.rows where change.key.entity.name == "Cart" {
        guard case .integer(let id) = change.key.id else { continue }
        state[id] = change.before.map(DeviceMoment.row)
      }
      states[position] = state
      return state
    }

    /// - Parameters:
    ///   - notes: the notes of all carts at the end.
    ///   - queued: the texts that devices have queued, and those of them that were refused.
    /// - Returns: the actions whose effects are not there once, or not in their order.
    static func violations(_ notes: [String], queued: Set<String>, refused: Set<String>) -> [String] {
      let effects = notes.map { note in note.split(separator: "<").map { "<\($0)" } }
      var counts: [String: Int] = [:]
      for effect in effects.joined() { counts[effect, default: 0] += 1 }
      var found = counts.filter { $0.value > 1 }.map { "\($0.key) has its effect \($0.value) times" }
      found += queued.filter { !refused.contains($0) && counts[$0] == nil }.map { "\($0) has no effect" }
      found += refused.filter { counts[$0] != nil }.map { "\($0) was refused, and has an effect" }
      for cart in effects {
        var last: [Substring: Int] = [:]
        for effect in cart {
          let parts = effect.dropFirst().dropLast().split(separator: ".")
          guard parts.count == 2, let step = Int(parts[1]) else { continue }
          if let earlier = last[parts[0]], earlier > step { found.append("\(effect) comes after step \(earlier)") }
          last[parts[0]] = step
        }
      }
      return found
    }
  }
#endif
