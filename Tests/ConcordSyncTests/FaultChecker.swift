#if Server
  import Foundation

  @testable import ConcordServer

  /// Compares what devices have shown with what the server's store had at these positions, which its feed tells backwards from the end.
  final class FaultChecker {
    private let store: any RowStore
    /// What opens the positions that devices have.
    private let seal: SyncSeal
    private let entities: Set<EntityDescription>
    private let now: State
    /// By cart, the lines in it at the end, in order.
    let lists: [Int64: [String]]
    private var states: [String: State] = [:]

    /// The server's rows at a position.
    private struct State {
      var carts: [Int64: DeviceMoment.CartRow]
      var lines: [String: DeviceMoment.LineRow]
      var books: [Int64: DeviceMoment.BookRow]
      /// By cart, the lines in it. Lists have no history of their own: each line names its cart, and says when it has been taken out.
      private(set) var lists: [Int64: Set<String>] = [:]
      /// By cart, the stock of the book of each line.
      private(set) var stocks: [Int64: [Int64]] = [:]
      private(set) var effects: Set<Effect> = []

      mutating func settle() {
        (lists, stocks) = ([:], [:])
        for line in lines.values where line.text != RemoveLine.mark {
          let cart = FaultChecker.cart(of: line.id)
          lists[cart, default: []].insert(line.id)
          stocks[cart, default: []].append(line.book.flatMap { books[$0]?.stock } ?? 0)
        }
        effects = Set(lines.keys.map { .line($0) })
        for text in carts.values.map(\.note) + books.values.map(\.title) {
          effects.formUnion(FaultChecker.texts(in: text).map { .text($0) })
        }
      }
    }

    /// - Parameter isSealed: whether devices got positions that tell nothing.
    init(_ store: any RowStore, _ model: Model, isSealed: Bool) throws {
      self.store = store
      seal = SyncSeal(key: try SyncSeal.key(of: store), isHiding: isSealed)
      entities = [try model.entity(Cart.self), try model.entity(Line.self), try model.entity(Book.self)]
      var lists: [Int64: [String]] = [:]
      let rows = try store.read { try DeviceMoment.rows($0, model) { lists[$0] = $1 } }
      self.lists = lists
      var now = State(
        carts: Dictionary(rows.carts.map { ($0.id, $0) }) { $1 },
        lines: Dictionary(rows.lines.map { ($0.id, $0) }) { $1 },
        books: Dictionary(rows.books.map { ($0.id, $0) }) { $1 })
      now.settle()
      self.now = now
    }

    /// The cart of a line, which stands at the end of its name.
    static func cart(of line: String) -> Int64 {
      line.split(separator: ".").last.flatMap { Int64($0.drop { !$0.isNumber }) } ?? -1
    }

    /// The texts that were added to a note, or a title.
    static func texts(in note: String) -> [String] {
      note.split(separator: "<", omittingEmptySubsequences: false).dropFirst().map { "<\($0)" }
    }

    /// - Parameters:
    ///   - user: the user of a moment without a page. Others tell theirs.
    ///   - isEarlier: whether the device had the release without weights all the time; `nil` if it had it at first.
    /// - Returns: the violations of the law in the states that a device of a user had, one after the other.
    func violations(_ moments: [DeviceMoment], user: Int64, isEarlier: Bool? = nil) throws -> [String] {
      var found: [String] = []
      var last: ShownChanges?
      // By key, of all actions that have waited so far.
      var effects: [String: Effect] = [:]
      var before = KeptRows<DeviceMoment>()
      for moment in moments {
        let (earlier, asked) = before.next(
          moment, at: moment.position, moment.subscriptions, begun: moment.begun)
        let isOld = moment.carts.map { $0.weight == nil }
        if Set(isOld).count > 1 || isEarlier != nil && isOld.contains(where: { $0 != isEarlier }) {
          found.append("a column that is not of the device's release at \(moment.position ?? "no position")")
        }
        if moment.isTorn { found.append("a row without what it contains at \(moment.position ?? "no position")") }
        for action in moment.actions { if let effect = action.effect { effects[action.key] = effect } }
        guard let text = moment.position else {
          // No page is in the file.
          if !moment.isWithoutPage { found.append("what only pages bring, without a position") }
          continue
        }
        guard let position = opened(text), let changes = ShownChanges(position) else {
          found.append("no server has sealed \(text)")
          continue
        }
        if let last, !changes.isSuperset(of: last) {
          found.append("a step back from \(last) to \(changes)")
        } else {
          last = changes
        }
        guard let state = try state(at: position) else {
          found.append("the feed does not know \(position.rawValue)")
          continue
        }
        let differences =
          differences(moment, state, moment.user ?? user, after: earlier, asked: asked) + layers(moment, effects, state)
        found += differences.map { "\($0) at \(position.rawValue)" }
      }
      return found
    }

    /// The position that a server has given to a device; `nil` if no server of the store has.
    func opened(_ text: String) -> StorePosition? { seal.opened(text)?.position }

    /// The rows, as "Cart 1", that a subscription has by itself at a position that a server has given to a device, without what they contain.
    func roots(of subscription: FaultSubscription, at position: String, for user: Int64) throws -> Set<String> {
      guard let position = opened(position), let state = try state(at: position) else { return [] }
      let carts = state.carts.filter { id, cart in
        subscription.hasCart(of: cart.owner, withStocks: state.stocks[id] ?? [], for: user)
      }
      let books = state.books.filter { subscription.hasBook(withStock: $1.stock) }
      return Set(carts.keys.map { "Cart \($0)" } + books.keys.map { "Book \($0)" })
    }

    /// The rows, as "Cart 1", that have changed between two positions and are again as they were: the carts and the books of lines that were added and
    /// taken out.
    func changedBack(from: String, to: String) throws -> Set<String> {
      guard let first = opened(from), let last = opened(to), let before = try state(at: first),
        let after = try state(at: last)
      else { return [] }
      let lines = after.lines.values.filter { $0.text == RemoveLine.mark && before.lines[$0.id] == nil }
      return Set(lines.map { "Cart \(Self.cart(of: $0.id))" } + lines.compactMap { $0.book.map { "Book \($0)" } })
    }

    /// What subscriptions have of a state, with all that it contains.
    private func business(
      of subscriptions: [FaultSubscription], in state: State, for user: Int64
    ) -> (
      carts: [Int64: DeviceMoment.CartRow], lines: [String: DeviceMoment.LineRow], books: [Int64: DeviceMoment.BookRow]
    ) {
      let carts = state.carts.filter { id, cart in
        subscriptions.contains { $0.hasCart(of: cart.owner, withStocks: state.stocks[id] ?? [], for: user) }
      }
      let inside = carts.keys.reduce(into: Set<String>()) { $0.formUnion(state.lists[$1] ?? []) }
      let lines = state.lines.filter { inside.contains($0.key) }
      let books = Set(lines.values.compactMap(\.book))
      return (
        carts, lines,
        state.books.filter { id, book in
          books.contains(id) || subscriptions.contains { $0.hasBook(withStock: book.stock) }
        }
      )
    }

    /// What a device has, compared with the server's state at its position.
    ///
    /// - Parameters:
    ///   - earlier: the moment before; `nil` if there is none.
    ///   - asked: the subscriptions for which the page was asked that has come between the two.
    private func differences(
      _ moment: DeviceMoment, _ state: State, _ user: Int64, after earlier: DeviceMoment?, asked: Set<String>
    ) -> [String] {
      var found: [String] = []
      func compare<Key: Hashable, Row: Equatable>(_ name: String, _ wanted: [Key: Row], _ shown: [Key: Row]) {
        for (key, row) in wanted where shown[key] != row {
          found.append("\(name) \(key) is \(shown[key].map { "\($0)" } ?? "missing"), not \(row),")
        }
      }
      let subscriptions = moment.subscriptions.compactMap { FaultSubscription(text: $0) }
      if subscriptions.count < moment.subscriptions.count {
        found.append("a subscription that no device has begun, of \(moment.subscriptions),")
      }
      let isOld = moment.carts.contains { $0.weight == nil }
      var (carts, lines, books) = business(of: subscriptions, in: state, for: user)
      if isOld { for id in carts.keys { carts[id]?.weight = nil } }
      let shownCarts = Dictionary(moment.carts.map { ($0.id, $0) }) { $1 }
      let shownLines = Dictionary(moment.lines.map { ($0.id, $0) }) { $1 }
      let shownBooks = Dictionary(moment.books.map { ($0.id, $0) }) { $1 }
      compare("cart", carts, shownCarts)
      compare("line", lines, shownLines)
      compare("book", books, shownBooks)
      for id in carts.keys {
        let (list, lines) = (moment.lists[id] ?? [], state.lists[id] ?? [])
        if Set(list) != lines { found.append("cart \(id) has the lines \(list), not \(lines),") }
        // What stands there at the end has stood in that order.
        let (end, common) = (lists[id] ?? [], Set(list).intersection(lists[id] ?? []))
        if list.filter(common.contains) != end.filter(common.contains) {
          found.append("cart \(id) has the lines \(list), in another order than \(end),")
        }
      }

      // What an action names that waits stays, with what it contains, whatever the device notes of it.
      let named = Set(
        moment.actions.filter { $0.state == "pending" }.flatMap { NamedEntities($0.body ?? "").names })
      func isKept(_ name: String) -> Bool { named.contains(name) }
      let keptLines = Set(shownCarts.keys.filter { isKept("Cart \($0)") }.flatMap { moment.lists[$0] ?? [] })
      let keptBooks = Set(keptLines.compactMap { shownLines[$0]?.book })
      // It is as it was, or as a page has it that was asked for before its subscription ended.
      let served = business(of: asked.compactMap { FaultSubscription(text: $0) }, in: state, for: user)
      func check<Row: Equatable>(_ name: String, _ row: Row, isKept: Bool, _ before: Row?, _ served: Row?) {
        if !isKept { return found.append("\(name) is not the device's business") }
        if row == before || row == served { return }
        found.append("\(name) stays as \(row), and was \(before.map { "\($0)" } ?? "not there"),")
      }
      for (id, row) in shownCarts where carts[id] == nil {
        var (before, served) = (earlier?.carts.first { $0.id == id }, served.carts[id])
        // Those of an earlier release get one as its file is migrated.
        if before?.weight == nil { before?.weight = row.weight }
        if isOld { served?.weight = nil }
        check("cart \(id)", row, isKept: isKept("Cart \(id)"), before, served)
        let list = moment.lists[id] ?? []
        if list != earlier?.lists[id] ?? [], served == nil || Set(list) != state.lists[id] ?? [] {
          found.append("cart \(id) stays with the lines \(list), and had \(earlier?.lists[id] ?? []),")
        }
      }
      for (id, row) in shownLines where lines[id] == nil {
        let isKept = keptLines.contains(id) || isKept("Line \(id)")
        check("line \(id)", row, isKept: isKept, earlier?.lines.first { $0.id == id }, served.lines[id])
      }
      for (id, row) in shownBooks where books[id] == nil {
        let isKept = keptBooks.contains(id) || isKept("Book \(id)")
        check("book \(id)", row, isKept: isKept, earlier?.books.first { $0.id == id }, served.books[id])
      }
      return found
    }

    /// Whether each action that has waited is either in the server's state at the position, or waits, never both, and never neither.
    private func layers(_ moment: DeviceMoment, _ effects: [String: Effect], _ state: State) -> [String] {
      let states = Dictionary(moment.actions.map { ($0.key, $0.state) }) { $1 }
      let undecided = Set(moment.actions.filter(\.isUndecided).map(\.key))
      return effects.compactMap { key, effect in
        if undecided.contains(key) { return nil }
        let isThere = state.effects.contains(effect)
        switch states[key] {
        case "pending": return isThere ? "the effect of \(effect) is there, and its layer, too," : nil
        case "refused": return isThere ? "\(effect) was refused, and its effect is there" : nil
        default: return isThere ? nil : "the layer of \(effect) is gone, and its effect is not there"
        }
      }
    }

    private func state(at position: StorePosition) throws -> State? {
      if let known = states[position.rawValue] { return known }
      guard let changes = try store.read({ try $0.changes(since: position, of: entities, limit: .max) }) else {
        return nil
      }
      var state = now
      for change in changes.rows {
        let before = change.before.map { DeviceMoment.Values(change.key.entity, $0) }
        switch (change.key.entity.name, change.key.id) {
        case ("Cart", .integer(let id)): state.carts[id] = before.map(DeviceMoment.CartRow.init)
        case ("Line", .text(let id)): state.lines[id] = before.map(DeviceMoment.LineRow.init)
        case ("Book", .integer(let id)): state.books[id] = before.map(DeviceMoment.BookRow.init)
        default: break
        }
      }
      state.settle()
      states[position.rawValue] = state
      return state
    }

    // MARK: The end

    /// - Parameters:
    ///   - notes: the notes of all carts, and the titles of all books, at the end.
    ///   - queued: the actions that devices have queued, and those of them that were refused.
    ///   - late: the effects that may have come after later ones, since devices were with another user meanwhile.
    /// - Returns: the actions whose effects are not there once, or not in their order.
    static func violations(
      _ notes: [String], queued: Set<FaultAction>, refused: Set<FaultAction>, late: Set<Effect> = []
    ) -> [String] {
      let effects = notes.map(texts)
      func appended(_ actions: Set<FaultAction>) -> Set<String> {
        Set(actions.filter { [Append.name, Give.name, Rename.name].contains($0.name) }.map(\.effect))
      }
      let (queued, refused) = (appended(queued), appended(refused))
      var counts: [String: Int] = [:]
      for effect in effects.joined() { counts[effect, default: 0] += 1 }
      var found = counts.filter { $0.value > 1 }.map { "\($0.key) has its effect \($0.value) times" }
      found += queued.filter { !refused.contains($0) && counts[$0] == nil }.map { "\($0) has no effect" }
      found += refused.filter { counts[$0] != nil }.map { "\($0) was refused, and has an effect" }
      for cart in effects {
        var last: [Substring: Int] = [:]
        for effect in cart where !late.contains(.text(effect)) {
          let parts = effect.dropFirst().dropLast().split(separator: ".")
          guard parts.count == 2, let step = Int(parts[1]) else { continue }
          if let earlier = last[parts[0]], earlier > step { found.append("\(effect) comes after step \(earlier)") }
          last[parts[0]] = step
        }
      }
      return found
    }

    /// - Parameters:
    ///   - lists: the lines of each cart at the end.
    ///   - lines: all lines at the end.
    ///   - stock: the stock that each book had before the first line of an action.
    /// - Returns: the lines that were not added once, or not removed, and the books that have lost more or less than what was added.
    static func violations(
      _ lists: [[String]], _ lines: [Line], _ books: [Book], stock: Int, queued: Set<FaultAction>,
      refused: Set<FaultAction>
    ) -> [String] {
      var counts: [String: Int] = [:]
      for line in lists.joined() { counts[line, default: 0] += 1 }
      var found = counts.filter { $0.value > 1 }.map { "the line \($0.key) stands \($0.value) times" }
      let present = Set(lines.map(\.id))
      // One device may be allowed what another one was not.
      for action in queued.subtracting(refused) {
        if action.name == AddLine.name, !present.contains(action.effect) { found.append("\(action) has no effect") }
        if action.name == RemoveLine.name, counts[action.effect] != nil { found.append("\(action) has no effect") }
      }
      for action in refused where action.name == AddLine.name && present.contains(action.effect) {
        found.append("\(action) was refused, and has an effect")
      }
      for line in lines where (line.text == RemoveLine.mark) == (counts[line.id] != nil) {
        found.append("the line \(line.id) was \(counts[line.id] == nil ? "lost" : "removed, and is there")")
      }
      for book in books {
        let taken = lines.count { $0.id.hasPrefix("n") && $0.book?.id == book.id }
        if book.stock != stock - taken {
          found.append("the book \(book.id) has the stock \(book.stock), and \(taken) were taken of \(stock)")
        }
      }
      return found
    }
  }
#endif
