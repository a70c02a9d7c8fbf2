#if Server
  import ConcordServer
  import Foundation
  import GRDB
  import Testing

  /// A program that writes anything to a file with a feed, and compares what the feed tells with the rows themselves.
  struct FeedRun {
    let seed: UInt64
    let store: any RowStore
    let model: Model
    let file: URL

    func run() throws {
      var numbers = SplitMix(seed)
      try store.startFeed(FeedLimits(changes: 120, rows: 1000))
      var states: [(position: StorePosition, rows: Rows)] = []
      let queue = try DatabaseQueue(path: file.path)
      defer { try? queue.close() }
      var done: [String] = []
      var (known, forgotten) = (0, 0)
      for step in 0..<150 {
        var sql = ""
        for _ in 0..<Int.random(in: 1...3, using: &numbers) { sql += statement(step, &numbers) + "; " }
        do {
          try queue.write { try $0.execute(sql: sql) }
          done.append(sql)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
          // It broke a rule of the schema, and was undone.
        }
        if step % 7 == 0 { _ = try store.trimFeed() }
        let now = try store.read { (position: try $0.position(), rows: try rows($0, model)) }
        for _ in 0..<3 {
          guard let state = states.randomElement(using: &numbers) else { break }
          let keys = Array(Set(state.rows.keys).union(now.rows.keys))
          let (changes, changed) = try store.read {
            (try $0.changes(since: state.position), try $0.changed(keys, since: state.position))
          }
          let found =
            Self.violations(changes, from: state.rows, to: now.rows, model)
            + Self.violations(changed, of: keys, changes, from: state.rows, to: now.rows)
          if changes == nil { forgotten += 1 } else { known += 1 }
          try #require(
            found.isEmpty, "seed \(seed), step \(step): \(found.joined(separator: "; ")) after \(done.suffix(3))")
        }
        states.append(now)
        if states.count > 40 { states.removeFirst() }
      }
      try #require(known > 0, "seed \(seed): of \(forgotten) positions no rows as they were are known")
    }

    /// Compares what a feed tells, if it knows the rows as they were, with these and the rows as they are.
    static func violations(_ changes: RowChanges?, from old: Rows, to new: Rows, _ model: Model) -> [String] {
      guard let changes else { return [] }
      var found: [String] = []
      let told = Dictionary(changes.rows.map { ($0.key, $0) }) { first, _ in first }
      if told.count != changes.rows.count { found.append("a row is told twice") }
      for key in Set(old.keys).union(new.keys) where old[key] != new[key] {
        guard let change = told[key] else {
          found.append("\(key.entity.name) \(key.id) is not told")
          continue
        }
        let (before, after) = (old[key]?.collections.first ?? [], new[key]?.collections.first ?? [])
        let lists = model.entity(named: "Line")
        for id in Set(after.compactMap(\.last)).subtracting(before.compactMap(\.last))
        where old[key] != nil {
          if let lists, !change.added.contains(EntityKey(lists, id)) {
            found.append("\(id) was added to \(key.id), unsaid")
          }
        }
      }
      for change in changes.rows where change.before != old[change.key]?.values {
        found.append(
          "\(change.key.entity.name) \(change.key.id) was \(old[change.key].map { "\($0.values)" } ?? "not there"), not \(String(describing: change.before))"
        )
      }
      return found
    }

    /// Compares what a feed tells of the rows that it is asked about with what it tells of all, and with the rows as they were and as they are.
    static func violations(
      _ changed: Set<EntityKey>?, of keys: [EntityKey], _ changes: RowChanges?, from old: Rows, to new: Rows
    ) -> [String] {
      guard let changed else { return ["the position is unknown"] }
      var found = keys.filter { old[$0] != new[$0] && !changed.contains($0) }.map {
        "\($0.entity.name) \($0.id) is not told where it is asked about"
      }
      if let told = changes.map({ Set($0.rows.map(\.key)).intersection(keys) }), told != changed {
        found.append("of those that are asked about \(changed.count) have changed, not \(told.count)")
      }
      return found
    }

    private func statement(_ step: Int, _ numbers: inout SplitMix) -> String {
      let (id, other) = (Int.random(in: 1...6, using: &numbers), Int.random(in: 1...6, using: &numbers))
      let or = ["", "OR REPLACE ", "OR IGNORE "].randomElement(using: &numbers) ?? ""
      switch Int.random(in: 0..<12, using: &numbers) {
      case 0: return "INSERT \(or)INTO Label (owner, name, _stamp) VALUES (\(other), 'n\(id)', \(step))"
      case 1: return "INSERT \(or)INTO Label (id, owner, name, _stamp) VALUES (\(id), \(other), 'n\(other)', \(step))"
      case 2: return "UPDATE \(or)Label SET name = 'n\(other)', owner = \(step) WHERE id = \(id)"
      case 3: return "UPDATE \(or)Label SET id = \(other) WHERE id = \(id)"
      case 4: return "DELETE FROM Label WHERE id = \(id)"
      case 5:
        return """
          INSERT INTO Label (id, owner, name, _stamp) VALUES (\(id), 1, 'n\(other)', \(step)) \
          ON CONFLICT (id) DO UPDATE SET owner = owner + 1
          """
      case 6:
        return """
          INSERT \(or)INTO Cart (id, owner, note, weight, lines, _stamp) \
          VALUES (\(id), 1, 'it''s', 0.5, 0, \(step))
          """
      case 7: return "INSERT \(or)INTO Cart_lines (_owner, _position, lines) VALUES (\(id), \(step), 'l\(other)')"
      case 8: return "UPDATE \(or)Cart_lines SET _owner = \(other) WHERE _owner = \(id)"
      case 9: return "DELETE FROM Cart_lines WHERE _owner = \(id)"
      case 10: return "INSERT \(or)INTO Line (id, text, book, _stamp) VALUES ('l\(id)', 'x', \(other), \(step))"
      default: return "DELETE FROM \(["Line WHERE id = 'l\(id)'", "Cart WHERE id = \(id)"][step % 2])"
      }
    }
  }
#endif
