#if Server && os(Linux)
  import ConcordServer
  import Foundation
  import Testing

  /// Changes what a device of the first user has shown, so that it breaks the law, and expects that the checker finds that.
  struct PlantedViolations {
    let checker: FaultChecker
    /// States with a position and a cart, and without rows that stay for actions only.
    let moments: [DeviceMoment]
    /// The same of all devices, with their users.
    var everyone: [(user: Int64, moments: [DeviceMoment])] = []
    /// The screens of all devices.
    var screens: [Screen] = []
    /// States, with a position and a cart, of a device of the second user that has the earlier release.
    var earlier: [DeviceMoment] = []

    func check() throws {
      try checkRows()
      try checkVersions()
      try checkSubscriptions()
      checkScreens()
      try checkOrder()
      try checkLayers()
      try checkEnd()
    }

    private func isFound(_ moments: [DeviceMoment]) throws -> Bool {
      try !checker.violations(moments, user: 1).isEmpty
    }

    /// Changes the last moment for which a condition holds.
    private func isFound(
      where condition: @escaping (DeviceMoment) -> Bool = { _ in true }, _ change: (inout DeviceMoment) throws -> Void
    ) throws -> Bool {
      var changed = try #require(moments.last(where: condition))
      try #require(try !isFound([changed]))
      try change(&changed)
      return try isFound([changed])
    }

    private func checkRows() throws {
      // *Whole pages*: rows are missing, or of another state.
      #expect(try isFound { $0.carts.removeLast() } && isFound { $0.carts[0].note += "<x.1>" })
      #expect(try isFound { $0.carts[0].owner = 3 - $0.carts[0].owner } && isFound { $0.isTorn = true })
      #expect(try isFound { $0.position = "1.1" } && isFound { $0.position = nil })
      try checkBeginning()
      let hasLine = { (moment: DeviceMoment) in !moment.lines.isEmpty && !moment.books.isEmpty }
      #expect(try isFound(where: hasLine) { $0.books[0].title = "old" })
      #expect(try isFound(where: hasLine) { $0.books[0].stock += 1 })
      #expect(try isFound(where: hasLine) { $0.books.removeAll() })
      #expect(try isFound(where: hasLine) { $0.lines[0].text = "old" })
      #expect(try isFound(where: hasLine) { $0.lines[0].book = 7 })
      #expect(try isFound(where: hasLine) { $0.lines.removeAll() })
      // The number of lines is that of the server, and the lines are others.
      #expect(
        try isFound(where: hasLine) { moment in
          for id in moment.lists.keys where moment.lists[id]?.isEmpty == false { moment.lists[id]?[0] = "n1.1.\(id)" }
        })
      // The order is that in which they stand there at the end.
      func ordered(_ moment: DeviceMoment) -> Int64? {
        moment.lists.first { id, list in Set(list).intersection(checker.lists[id] ?? []).count > 1 }?.key
      }
      if moments.contains(where: { ordered($0) != nil }) {
        #expect(
          try isFound(where: { ordered($0) != nil }) { moment in
            if let id = ordered(moment) { moment.lists[id]?.reverse() }
          })
      }
      // *Nothing of others*.
      #expect(try isFound { $0.carts.append(.init(id: 99, owner: 1, note: "", weight: 0, lines: 0)) })
      #expect(try isFound { $0.lines.append(.init(id: "n1.1.2", text: "n1.1.2", book: nil)) })
      #expect(try isFound { $0.books.append(.init(id: 9, title: "b", stock: 9)) })
      try checkKept()
    }

    /// A row that stays is named by an action that waits, and is as it was.
    private func checkKept() throws {
      var last = try #require(moments.last { !$0.lines.isEmpty && !$0.books.isEmpty })
      (last.actions, last.begun) = ([], [])
      func naming(_ cart: Int64, _ state: String) -> DeviceMoment.Action {
        .init(key: "planted", effect: nil, state: state, name: Append.name, body: #"{"cart":\#(cart),"text":""}"#)
      }
      // One that no server has had.
      for state in ["pending", "refused", "sent"] {
        var changed = last
        changed.carts.append(.init(id: 99, owner: 1, note: "", weight: changed.carts[0].weight, lines: 0))
        changed.kept = ["Cart 99"]
        changed.actions.append(naming(99, state))
        #expect(try isFound([changed]) && isFound([last, changed]))
      }
      // All subscriptions are cancelled, and an action waits that names a cart.
      let cart = try #require(last.carts.last { last.lists[$0.id]?.isEmpty == false })
      var kept = last
      (kept.subscriptions, kept.carts) = ([], [cart])
      kept.lists = last.lists.filter { $0.key == cart.id }
      kept.lines = last.lines.filter { kept.lists[cart.id]?.contains($0.id) == true }
      kept.books = last.books.filter { book in kept.lines.contains { $0.book == book.id } }
      kept.actions.append(naming(cart.id, "pending"))
      #expect(try !isFound([last, kept]) && !isFound([last, kept, kept]))
      // It was not there before, as where it has left in between.
      var gone = kept
      (gone.carts, gone.lists, gone.lines, gone.books) = ([], [:], [], [])
      #expect(try isFound([kept]) && !isFound([last, gone]) && isFound([last, gone, kept]))
      for change in [
        { $0.carts[0].note += "<x.1>" }, { $0.carts[0].owner = 3 - $0.carts[0].owner },
        { $0.lines[0].text = "old" }, { $0.lists[cart.id]?.reverse() }, { $0.actions.removeLast() },
        { $0.actions[$0.actions.count - 1].state = "refused" }, { $0.actions[$0.actions.count - 1].state = "sent" },
      ] as [(inout DeviceMoment) -> Void] {
        var changed = kept
        change(&changed)
        if changed != kept { #expect(try isFound([last, changed])) }
      }
      if !kept.books.isEmpty {
        var changed = kept
        changed.books[0].title = "old"
        #expect(try isFound([last, changed]))
      }
    }

    /// Before its first page a device has nothing that only pages bring.
    private func checkBeginning() throws {
      let last = try #require(moments.last { !$0.lines.isEmpty && !$0.books.isEmpty })
      var none = DeviceMoment()
      none.actions = [.init(key: "planted", effect: nil, state: "pending", name: Append.name, body: "{}")]
      #expect(try !isFound([none]))
      for change in [
        { $0.carts = last.carts }, { $0.lines = last.lines }, { $0.books = last.books },
        { $0.subscriptions = last.subscriptions }, { $0.actions[0].state = "sent" },
      ] as [(inout DeviceMoment) -> Void] {
        var changed = none
        change(&changed)
        #expect(try isFound([changed]))
      }
    }

    /// *Versions*.
    private func checkVersions() throws {
      func isFound(_ moment: DeviceMoment, user: Int64, isEarlier: Bool, weight: Double?) throws -> Bool {
        var changed = moment
        for index in changed.carts.indices { changed.carts[index].weight = weight }
        try #require(try checker.violations([moment], user: user, isEarlier: isEarlier).isEmpty)
        return try !checker.violations([changed], user: user, isEarlier: isEarlier).isEmpty
      }
      // The earlier release has a weight, also that of the server; the later one has none, if the device was started with it.
      let new = moments.last { $0.carts[0].weight != nil }
      let weight = new?.carts[0].weight ?? Cart(id: 1, owner: 1).weight
      #expect(try isFound(try #require(earlier.last), user: 2, isEarlier: true, weight: weight))
      if let new { #expect(try isFound(new, user: 1, isEarlier: false, weight: nil)) }
    }

    private func checkSubscriptions() throws {
      // What has been subscribed to no longer is there; something is missing of what has; nobody has begun that one.
      #expect(try isFound { $0.subscriptions = [] } && isFound { $0.subscriptions.append("[\"all\",{}]") })
      let all = [FaultSubscription.byStock(rest: 0), .byStock(rest: 1), .books].map(\.text)
      // Some device has not had all of it.
      #expect(
        try everyone.contains { user, moments in
          try moments.contains { moment in
            var changed = moment
            changed.subscriptions = Array(Set(moment.subscriptions + all))
            return try !checker.violations([changed], user: user).isEmpty
          }
        })
    }

    /// *Seamless*, on the screen: of a device whose screen has shown two texts in a note, lines, and an earlier title of a book.
    private func checkScreens() {
      for screen in screens { #expect(!isFound(screen, screen.carts) && !isFound(screen, screen.books)) }
      var count = 0
      for screen in screens { count += checkScreen(screen) }
      #expect(count > 0)
    }

    private func isFound(_ screen: Screen, _ carts: [ShownCarts]) -> Bool {
      !ScreenStates.violations(carts, of: screen.states.carts).isEmpty
    }
    private func isFound(_ screen: Screen, _ books: [ShownBooks]) -> Bool {
      !ScreenStates.violations(books, of: screen.states.books).isEmpty
    }

    /// - Returns: the number of notices that were changed.
    private func checkScreen(_ screen: Screen) -> Int {
      #expect(
        !isFound(screen, screen.carts + screen.carts.suffix(1)) && !isFound(screen, Array(screen.carts.suffix(1))))
      var count = 0
      /// Changes a cart of the last notice for which a condition holds.
      func plant(
        where condition: (ShownCarts.ShownCart) -> Bool, _ change: (inout ShownCarts.ShownCart) -> Void
      ) {
        guard let place = screen.carts.lastIndex(where: { $0.carts.contains(where: condition) }),
          let index = screen.carts[place].carts.firstIndex(where: condition)
        else { return }
        var changed = screen.carts[place]
        change(&changed.carts[index])
        #expect(isFound(screen, screen.carts[...place] + [changed]))
        count += 1
      }
      // A text that is gone, doubled, at another place, or of nobody.
      func texts(_ cart: ShownCarts.ShownCart) -> [String] { FaultChecker.texts(in: cart.note) }
      for change in [{ Array($0.dropFirst()) }, { $0 + $0.suffix(1) }, { $0.reversed() }, { $0 + ["<0.0>"] }]
        as [([String]) -> [String]]
      {
        plant(where: { texts($0).count > 1 }) { $0.note = change(texts($0)).joined() }
      }
      // A line that is doubled, missing, without its book, or marked; a book that is another one; the owner.
      func hasBook(_ cart: ShownCarts.ShownCart) -> Bool { cart.lines.last?.book != nil }
      for change in [
        { $0.lines.append($0.lines[$0.lines.count - 1]) }, { $0.lines.removeLast() },
        { $0.lines[$0.lines.count - 1].book = nil }, { $0.lines[$0.lines.count - 1].text = RemoveLine.mark },
        { $0.lines[$0.lines.count - 1].book?.stock += 1 }, { $0.lines[$0.lines.count - 1].book?.title = "" },
      ] as [(inout ShownCarts.ShownCart) -> Void] {
        plant(where: hasBook, change)
      }
      plant(where: { _ in true }) { $0.owner = 3 - $0.owner }
      // A title that steps back, and one note. It may step back with an action that was given up.
      func length(_ books: ShownBooks) -> Int { books.books.map(\.title.utf8.count).reduce(0, +) }
      let books = screen.books.filter { $0.books.count == 3 }
      if let last = books.max(by: { length($0) < length($1) }),
        let place = screen.states.books.firstIndex(of: last),
        let first = books.first(where: { length($0) < length(last) && !screen.states.books[place...].contains($0) })
      {
        var changed = last
        changed.books[0].stock = -1
        #expect(isFound(screen, [last, first]) && isFound(screen, [changed]))
        count += 1
      }
      return count
    }

    private func checkOrder() throws {
      // As if the row with the latest date won, an earlier value of a cart, and of a book, at a later position.
      let last = try #require(moments.last)
      if let cart = last.carts.first,
        let earlier = moments.flatMap(\.carts).first(where: {
          $0.id == cart.id && $0 != cart && $0.weight == cart.weight
        })
      {
        var changed = last
        changed.carts[0] = earlier
        #expect(try isFound([changed]))
      }
      if let book = last.books.first,
        let earlier = moments.flatMap(\.books).first(where: { $0.id == book.id && $0.title != book.title })
      {
        var changed = last
        changed.books[0].title = earlier.title
        #expect(try isFound([changed]))
      }
      // As if pages were applied in the order in which they arrive.
      func position(_ moment: DeviceMoment) -> StorePosition? { moment.position.flatMap(checker.opened) }
      #expect(try position(last) == position(moments[0]) || isFound([last, moments[0]]))
      // What no server has sealed.
      #expect(try isFound { $0.position = "\($0.position ?? "")A" })
    }

    /// *Seamless*.
    private func checkLayers() throws {
      func waiting(_ effect: Effect) -> DeviceMoment.Action { .init(key: "planted", effect: effect, state: "pending") }
      let none = [waiting(.text("<0.0>")), waiting(.line("n0.0.1"))]
      for action in none {
        var (first, last) = (try #require(moments.last), try #require(moments.last))
        first.actions.append(action)
        #expect(try !isFound([first]) && !isFound([first, first]))
        // The layer is gone, or its action is marked as sent, and the effect is not there.
        #expect(try isFound([first, last]))
        last.actions.append(.init(key: "planted", effect: nil, state: "sent"))
        #expect(try isFound([first, last]))
      }
      // The effect is there, and the layer above it, too; or it was refused.
      var count = 0
      if let text = moments.last?.carts.flatMap({ FaultChecker.texts(in: $0.note) }).first {
        #expect(try isFound { $0.actions.append(waiting(.text(text))) })
        #expect(try isFound { $0.actions.append(.init(key: "planted", effect: .text(text), state: "refused")) })
        count += 1
      }
      if let line = moments.last?.lines.first?.id {
        #expect(try isFound { $0.actions.append(waiting(.line(line))) })
        count += 1
      }
      #expect(count > 0)
    }

    /// *Once* and *Refused means gone*.
    private func checkEnd() throws {
      func violations(_ notes: [String], _ queued: [String] = [], _ refused: [String] = []) -> [String] {
        func actions(_ texts: [String]) -> Set<FaultAction> {
          Set(texts.map { FaultAction(name: Append.name, effect: $0) })
        }
        return FaultChecker.violations(notes, queued: actions(queued), refused: actions(refused))
      }
      #expect(violations(["<1.1><1.2>", "<1.3>"], ["<1.1>"], ["<2.1>"]).isEmpty)
      #expect(!violations(["<1.1>", "<1.1>"]).isEmpty && !violations(["<1.2><1.1>"]).isEmpty)
      #expect(!violations([""], ["<1.1>"]).isEmpty && !violations(["<1.1>"], [], ["<1.1>"]).isEmpty)
      // A cart that was given away, and a book that has got a title.
      for name in [Give.name, Rename.name] {
        let action = FaultAction(name: name, effect: "<1.1>")
        #expect(!FaultChecker.violations(["b", ""], queued: [action], refused: []).isEmpty)
        #expect(FaultChecker.violations(["b<1.1>", ""], queued: [action], refused: []).isEmpty)
        #expect(!FaultChecker.violations(["b<1.1>", "<1.1>"], queued: [action], refused: []).isEmpty)
        #expect(!FaultChecker.violations(["<1.1>"], queued: [], refused: [action]).isEmpty)
      }

      func violations(
        _ lists: [[String]], stock: Int = 9, queued: [FaultAction] = [], refused: [FaultAction] = []
      ) -> [String] {
        let book = Book(id: 1, title: "b", stock: stock)
        let lines = [
          Line(id: "l1", text: "l1", book: book), Line(id: "n1.1.1", text: "n1.1.1", book: book),
          Line(id: "l2", text: RemoveLine.mark, book: book),
        ]
        return FaultChecker.violations(
          lists, lines, [book], stock: 10, queued: Set(queued), refused: Set(refused))
      }
      let (list, others) = (["l1", "n1.1.1"], [String]())
      func add(_ line: String) -> FaultAction { FaultAction(name: AddLine.name, effect: line) }
      func remove(_ line: String) -> FaultAction { FaultAction(name: RemoveLine.name, effect: line) }
      let queued = [add("n1.1.1"), remove("l2")]
      #expect(violations([list, others], queued: queued).isEmpty)
      #expect(violations([list, others], queued: queued + [add("n1.2.1")], refused: [add("n1.2.1")]).isEmpty)
      // Twice in one cart, in two carts, in none; removed, and there; not added, not removed, or refused; taken twice, or never.
      #expect(!violations([list + ["l1"], others]).isEmpty && !violations([list, ["l1"]]).isEmpty)
      #expect(!violations([["l1"], others]).isEmpty && !violations([list, ["l2"]]).isEmpty)
      #expect(!violations([list, others], queued: [add("n1.2.1")]).isEmpty)
      #expect(!violations([list, others], queued: [remove("l1")]).isEmpty)
      #expect(!violations([list, others], refused: [add("n1.1.1")]).isEmpty)
      #expect(!violations([list, others], stock: 8).isEmpty && !violations([list, others], stock: 10).isEmpty)
    }
  }
#endif
