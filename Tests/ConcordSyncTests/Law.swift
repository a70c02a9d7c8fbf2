#if Server
  import Foundation

  @testable import ConcordServer
  @testable import ConcordSync

  /// What a device has at one moment, read in one transaction of its file.
  struct Moment: Sendable {
    /// The user whose rows the device has.
    var user: Int
    var position: String?
    /// The subscriptions whose state is in the file.
    var subscriptions: [SubscriptionID]
    /// Those whose state is not in the file yet.
    var begun: [SubscriptionID]
    var rows: Rows
    /// The keys of the actions that wait, and of those that are known as accepted.
    var pending: Set<String>
    var sent: Set<String>
    /// The names of the actions, and how many of the device's the pages so far contained.
    var names: [String: String]
    var actions: String?
    /// The entities that actions name which wait. Their rows stay, with what they contain.
    var named: Set<EntityKey>
    /// The types of another store whose rows are not those of the position, as the marks tell: it was detached meanwhile.
    var torn: Set<EntityDescription> = []
    /// Those of which the device notes that they stay because actions wait that name them.
    var lingering: Set<EntityKey> = []
  }

  /// The law, without the code that is to keep it: what a device has is the server's state at its position, for what it subscribes to,
  /// and none of the actions that this contains is pending.
  struct Law {
    let history: History
    let model: Model
    /// What opens the positions that devices have.
    let seal: SyncSeal
    /// The rules of ``World/rules`` of which each subscription may have got one.
    var rules: [Int] = [0]

    /// - Parameter before: what the device had before, which goes on to the moment; without it no row stays for an action.
    /// - Returns: the violations.
    func violations(of moment: Moment, after before: inout KeptRows<Moment>) -> [String] {
      let (last, asked) = before.next(
        moment, at: moment.position, moment.subscriptions.map(\.text), begun: moment.begun.map(\.text))
      var served = moment
      served.subscriptions = asked.compactMap { SubscriptionID(text: $0) }
      var first: [String]?
      for carts in rules {
        for heavy in rules {
          let found = violations(of: moment, after: last, served: served, ["carts": carts, "heavy": heavy])
          if found.isEmpty { return [] }
          first = first ?? found
        }
      }
      return first ?? []
    }

    func violations(of moment: Moment) -> [String] {
      var before = KeptRows<Moment>()
      return violations(of: moment, after: &before)
    }

    /// - Parameters:
    ///   - last: the moment before; `nil` if there is none.
    ///   - served: the moment with the subscriptions for which the page was asked that has come between the two.
    private func violations(
      of moment: Moment, after last: Moment?, served: Moment, _ rules: [String: Int]
    ) -> [String] {
      guard let position = moment.position else {
        let isWithoutPage = moment.rows.isEmpty && moment.sent.isEmpty && moment.subscriptions.isEmpty
        return isWithoutPage ? [] : ["what only pages bring, without a position"]
      }
      guard let position = seal.opened(position)?.position.rawValue, let state = history.state(at: position) else {
        return ["no commit ends at \(position)"]
      }
      var found: [String] = []
      let wanted = expected(of: moment, state.rows, rules)
      // What only torn rows contain may have left.
      let required = moment.torn.isEmpty ? wanted : expected(of: moment, state.rows, rules, without: moment.torn)
      for (key, row) in wanted where moment.rows[key] != row && !moment.torn.contains(key.entity) {
        if moment.rows[key] == nil, required[key] == nil { continue }
        found.append("\(name(key)) is \(moment.rows[key].map { "\($0)" } ?? "missing"), not \(row), at \(position)")
      }
      let kept = closure(
        of: moment.named.union(moment.rows.keys.filter { moment.torn.contains($0.entity) }), moment.rows)
      // It is as it was, or as a page has it that was asked for before its subscription ended.
      let other = served.subscriptions.isEmpty ? [:] : expected(of: served, state.rows, rules)
      for (key, row) in moment.rows where wanted[key] == nil && !moment.torn.contains(key.entity) {
        if !kept.contains(key) {
          found.append("\(name(key)) is not the device's business at \(position)")
        } else if row != last?.rows[key], row != other[key] {
          let before = last?.rows[key].map { "\($0)" } ?? "not there"
          found.append("\(name(key)) stays as \(row), and was \(before), at \(position)")
        }
      }
      for key in moment.pending.intersection(state.accepted) {
        found.append(
          "the effect of \(moment.names[key] ?? key) is there, and its layer, too, at \(position), after \(moment.actions ?? "no") actions"
        )
      }
      for key in moment.sent.subtracting(state.acceptedAtLast) {
        found.append("the layer of \(key) is gone before its effect came, at \(position)")
      }
      return found
    }

    private func name(_ key: EntityKey) -> String { "\(key.entity.name) \(key.id)" }

    /// The rows that a device subscribes to, in a state of the server.
    ///
    /// - Parameter missing: types without which the rows are followed.
    func expected(
      of moment: Moment, _ rows: Rows, _ rules: [String: Int], without missing: Set<EntityDescription> = []
    ) -> Rows {
      var roots: Set<EntityKey> = []
      for (key, row) in rows {
        let isRoot = moment.subscriptions.contains { isIn($0, key, row, rows, moment.user, rules) }
        if isRoot { roots.insert(key) }
      }
      return closure(of: roots, rows, without: missing).reduce(into: [:]) { $0[$1] = rows[$1] }
    }

    private func isIn(
      _ subscription: SubscriptionID, _ key: EntityKey, _ row: StoredRow, _ rows: Rows, _ user: Int,
      _ rules: [String: Int]
    ) -> Bool {
      switch (subscription.name, key.entity.name) {
      case ("carts", "Cart"):
        guard case .real(let weight) = row.values[3] else { return false }
        return row.values[1] == .integer(Int64(user)) && weight >= Rules.floor(rules["carts"] ?? 0)
      case ("heavy", "Cart"):
        guard case .real(let weight) = row.values[3] else { return false }
        let least = subscription.parameters["least"]?.number ?? 0
        return row.values[1] == .integer(Int64(user)) && weight >= least + Double(rules["heavy"] ?? 0)
      case ("by-stock", "Cart"):
        let rest = subscription.parameters["rest"]?.integer ?? 0
        return stocks(in: key, rows).contains { $0 % 2 == rest }
      case ("books", "Book"): if case .integer(let stock) = row.values[2] { return stock > 0 } else { return false }
      case ("labels", "Label"): return row.values[1] == .integer(Int64(user))
      default: return false
      }
    }

    /// The stocks of the books of a cart's lines; 0 for a line without one.
    private func stocks(in cart: EntityKey, _ rows: Rows) -> [Int64] {
      guard let lines = model.entity(named: "Line"), let books = model.entity(named: "Book") else { return [] }
      return (rows[cart]?.collections[0] ?? []).compactMap(\.last).map { id in
        guard let line = rows[EntityKey(lines, id)], !line.values[2].isNull,
          case .integer(let stock)? = rows[EntityKey(books, line.values[2])]?.values[2]
        else { return 0 }
        return stock
      }
    }

    private func closure(
      of roots: Set<EntityKey>, _ rows: Rows, without missing: Set<EntityDescription> = []
    ) -> Set<EntityKey> {
      var found: Set<EntityKey> = []
      var open = Array(roots)
      while let key = open.popLast() {
        guard !missing.contains(key.entity), let row = rows[key], found.insert(key).inserted else { continue }
        switch key.entity.name {
        case "Cart":
          for element in row.collections[0] {
            if let id = element.last, let line = model.entity(named: "Line") { open.append(EntityKey(line, id)) }
          }
        case "Line":
          if !row.values[2].isNull, let book = model.entity(named: "Book") {
            open.append(EntityKey(book, row.values[2]))
          }
        default: break
        }
      }
      return found
    }
  }

  extension Moment {
    /// Reads what a device's store has.
    ///
    /// - Parameter user: the user, if the file has no page yet. Otherwise that of the page is told.
    init(_ store: any RowStore, _ model: Model, user: Int) throws {
      self = try store.read { try Moment($0, model, user: user) }
    }

    /// Reads what a device has, within a transaction of its stores.
    ///
    /// - Parameter entities: the types that the store keeps; `nil` for all.
    init(_ reading: any RowReading, _ model: Model, user: Int, entities: [EntityDescription]? = nil) throws {
      var (subscriptions, begun): ([SubscriptionID], [SubscriptionID]) = ([], [])
      try reading.notes(in: "sync.subscriptions", after: nil) { text, state in
        guard let id = SubscriptionID(text: text) else { return true }
        if state.hasPrefix("known ") { subscriptions.append(id) } else { begun.append(id) }
        return true
      }
      let outbox = try reading.outbox(after: nil).rows + reading.outbox(after: .empty).rows
      let pending = outbox.filter { $0.state == .pending }
      let named = pending.flatMap { NamedEntities($0.body).keys(in: model) }
      let rowsOf = try reading.note(NoteName("sync", "user")).flatMap(Int.init)
      self.init(
        user: rowsOf ?? user, position: try reading.note(NoteName("sync", "position")), subscriptions: subscriptions,
        begun: begun, rows: try ConcordSyncTests.rows(reading, of: entities ?? model.entities),
        pending: Set(pending.map(\.key)),
        sent: Set(outbox.filter { $0.state == .sent }.map(\.key)),
        names: Dictionary(outbox.map { ($0.key, "\($0.action) \($0.body) \($0.key) \($0.number)") }) { a, _ in a },
        actions: try reading.note(NoteName("sync", "actions")), named: Set(named))
      try reading.notes(in: "sync.lingering", after: nil) { name, _ in
        if let key = EntityKey(noteName: name, in: model) { lingering.insert(key) }
        return true
      }
    }
  }

  extension Device {
    /// Reads what the device has.
    ///
    /// - Parameter user: the user, if the file has no page yet. Otherwise that of the page is told.
    func moment(user: Int) throws -> Moment? {
      guard let store = connect.persistentStoreCoordinator.persistentStores.first?.rows else { return nil }
      return try Moment(store, connect.model, user: user)
    }
  }
#endif
