#if Server && PostgreSQL
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordPostgreSQL

  /// Programs that write anything to a database with a feed, in transactions that overlap, and a comparison of what the feed tells with the rows
  /// themselves.
  struct DatabaseRun {
    let seed: UInt64
    let store: PostgreSQLStore
    let model: Model

    func run() throws {
      var numbers = SplitMix(seed)
      try store.startFeed(FeedLimits(changes: 60, rows: 1000))
      let others = try (0..<4).map { _ in try store.pool.connect() }
      // Who meets another one gives up.
      for other in others { try other.run([.once("SET lock_timeout = '20ms'")]) }
      var states: [(position: StorePosition, rows: Rows)] = []
      var (known, unknown, told) = (0, 0, 0)
      for step in 0..<120 {
        let other = others[Int.random(in: 0..<others.count, using: &numbers)]
        do {
          if !other.isInTransaction { try other.run([.once("BEGIN")]) }
          try other.run([.once(statement(step, &numbers))])
          if Int.random(in: 0..<3, using: &numbers) > 0 {
            try other.run([.once(Int.random(in: 0..<4, using: &numbers) == 0 ? "ROLLBACK" : "COMMIT")])
          }
        } catch let failure as PostgreSQLFailure
          where failure.code.hasPrefix("23") || ["55P03", "40P01"].contains(failure.code)
        {
          _ = other.rollBack()
        }
        if step % 7 == 0 { _ = try store.trimFeed() }
        let now = try store.read { (position: try $0.position(), rows: try rows($0, model)) }
        for _ in 0..<3 {
          guard let state = states.randomElement(using: &numbers) else { break }
          let keys = Array(Set(state.rows.keys).union(now.rows.keys))
          let (changes, changed) = try store.read {
            (try $0.changes(since: state.position), try $0.changed(keys, since: state.position))
          }
          // What others were changing may have been merged since.
          if changed == nil, HistoryPosition(state.position)?.unseen.isEmpty == false {
            unknown += 1
            continue
          }
          known += 1
          let found =
            FeedRun.violations(changes, from: state.rows, to: now.rows, model)
            + FeedRun.violations(changed, of: keys, changes, from: state.rows, to: now.rows)
          if changes != nil { told += 1 }
          try #require(found.isEmpty, "seed \(seed), step \(step): \(found.joined(separator: "; "))")
        }
        states.append(now)
        if states.count > 40 { states.removeFirst() }
      }
      for other in others { _ = other.rollBack() }
      try #require(told > 0, "seed \(seed): of \(known) positions no rows as they were are known")
      try #require(unknown < known, "seed \(seed): \(unknown) of \(known + unknown) positions are unknown")
    }

    private func statement(_ step: Int, _ numbers: inout SplitMix) -> String {
      let (id, other) = (Int.random(in: 1...6, using: &numbers), Int.random(in: 1...6, using: &numbers))
      let conflict = ["", " ON CONFLICT DO NOTHING"].randomElement(using: &numbers) ?? ""
      switch Int.random(in: 0..<14, using: &numbers) {
      case 0, 1:
        return """
          INSERT INTO "Label" (id, owner, name, _stamp) VALUES (\(id), \(other), 'n\(step)', \(step)), \
          (\(id + 6), \(other), 'm\(step)', \(step))\(conflict)
          """
      case 2: return "UPDATE \"Label\" SET name = name || 'n', owner = \(step)"
      case 3: return "UPDATE \"Label\" SET id = \(other) WHERE id = \(id)"
      case 4: return "DELETE FROM \"Label\" WHERE id = \(id)"
      case 5:
        return """
          INSERT INTO "Label" (id, owner, name, _stamp) VALUES (\(id), 1, 'k\(step)', \(step)) \
          ON CONFLICT (id) DO UPDATE SET owner = "Label".owner + 1
          """
      case 6:
        return """
          INSERT INTO "Cart" (id, owner, note, weight, lines, _stamp) \
          VALUES (\(id), 1, 'it''s \\ "x", {é}', '\(["NaN", "-0", "0.1", "Infinity"][step % 4])', 0, \(step))\(conflict)
          """
      case 7: return "UPDATE \"Cart\" SET weight = weight / 3, owner = \(other) WHERE id <= \(id)"
      case 8:
        return "INSERT INTO \"Cart_lines\" (_owner, _position, lines) SELECT id, \(step), 'l\(other)' FROM \"Cart\""
      case 9: return "UPDATE \"Cart_lines\" SET _owner = \(other) WHERE _owner = \(id)"
      case 10: return "DELETE FROM \"Cart_lines\" WHERE _owner = \(id)"
      case 11:
        return """
          INSERT INTO "Line" (id, text, book, _stamp) VALUES ('l\(id)', 'x', \(step % 2 == 0 ? "NULL" : "\(other)"), \(step))\
          \(conflict)
          """
      case 12: return "DELETE FROM \"Line\" WHERE id = 'l\(id)'"
      // The rows of its list go with it.
      default: return "DELETE FROM \"Cart\" WHERE id = \(id)"
      }
    }
  }
#endif
