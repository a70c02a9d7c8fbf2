#if Server
  import ConcordServer
  import Foundation
  import Testing

  /// The checker of what screens show, without any process: a device has a cart of its own, and one of another user, with the books in them.
  @Suite struct ScreenStatesTests {
    private static func moment(_ actions: [any SyncAction]) throws -> DeviceMoment {
      var moment = DeviceMoment()
      moment.carts = [
        .init(id: 1, owner: 1, note: "<1>", weight: 0.5, lines: 1),
        .init(id: 2, owner: 2, note: "", weight: nil, lines: 1),
      ]
      moment.lists = [1: ["l1"], 2: ["l2"]]
      moment.lines = [.init(id: "l1", text: "", book: 1), .init(id: "l2", text: "", book: 2)]
      moment.books = [.init(id: 1, title: "b", stock: 9), .init(id: 2, title: "c", stock: 0)]
      moment.actions = try actions.enumerated().map { number, action in
        DeviceMoment.Action(
          key: "\(number)", effect: nil, state: "pending", name: type(of: action).name,
          body: String(decoding: try JSONEncoder().encode(action), as: UTF8.self))
      }
      return moment
    }

    /// The carts that a screen shows, by the actions themselves.
    private static func applied(_ moment: DeviceMoment, _ actions: [any SyncAction]) throws -> ShownCarts {
      let books = Dictionary(
        moment.books.map { ($0.id, Book(id: Int($0.id), title: $0.title, stock: Int($0.stock))) }
      ) { $1 }
      let lines = Dictionary(
        moment.lines.map { ($0.id, Line(id: $0.id, text: $0.text, book: $0.book.flatMap { books[$0] })) }
      ) { $1 }
      let store = EntityStore()
      let carts = moment.carts.map { cart in
        Cart(
          id: Int(cart.id), owner: Int(cart.owner), note: cart.note, weight: cart.weight ?? 0.1,
          lines: (moment.lists[cart.id] ?? []).compactMap { lines[$0] })
      }
      let kept = carts.map { store.store($0) }
      for action in actions { _ = try? store.optimistically { try action.apply(to: $0) } }
      return withExtendedLifetime(kept) { ShownCarts(carts.compactMap { store.value(Cart.self, id: $0.id) }) }
    }

    private static let actions: [any SyncAction] = [
      Append(cart: 1, text: "<2>"), Give(cart: 1, owner: 2, text: "<3>"), AddLine(cart: 1, book: 1, line: "n"),
      RemoveLine(cart: 1, line: "l1"), Rename(book: 1, title: "<4>", isAdded: true), Rename(book: 2, title: "d"),
      // What does not apply shows nothing: there is no such cart, book or line, or no more of the book.
      Append(cart: 3, text: "<5>"), AddLine(cart: 3, book: 1, line: "m"), AddLine(cart: 1, book: 3, line: "m"),
      RemoveLine(cart: 1, line: "m"), AddLine(cart: 1, book: 2, line: "m"),
    ]

    @Test("Actions that wait are shown as the actions themselves make it")
    func layers() throws {
      for count in 0...Self.actions.count {
        let actions = Array(Self.actions.prefix(count))
        let moment = try Self.moment(actions)
        #expect(LayeredRows(moment).shownCarts == (try Self.applied(moment, actions)), "after \(count)")
      }
    }

    @Test("What no action, or not this one, explains is found, and what steps back")
    func planted() throws {
      var moments = try (0...Self.actions.count).map { try Self.moment(Array(Self.actions.prefix($0))) }
      // The effect of the first one comes with that of another one before it.
      var next = try Self.moment(Array(Self.actions.dropFirst()))
      next.carts[0].note = "<1><0><2>"
      moments.append(next)
      let states = ScreenStates(moments)
      func isFound(_ shown: [ShownCarts]) -> Bool { !ScreenStates.violations(shown, of: states.carts).isEmpty }
      func isFound(_ shown: [ShownBooks]) -> Bool { !ScreenStates.violations(shown, of: states.books).isEmpty }
      #expect(!isFound(states.carts) && !isFound(states.books) && !isFound([states.carts[0], states.carts[4]]))
      #expect(!isFound([states.carts[4], states.carts[4]]))
      let last = try #require(states.carts.last)
      #expect(
        last.carts[0].note == "<1><0><2><3>" && last.carts[0].owner == 2 && last.carts[0].lines.map(\.id) == ["n"])
      // Each state before the last one that is another.
      for state in states.carts where state != last { #expect(isFound([last, state])) }
      for change in [
        // A line is doubled, missing, or one that was removed is there; the owner, and the title and the stock of a book, step back.
        { $0.lines.append($0.lines[0]) }, { $0.lines = [] },
        { $0.lines.insert(.init(id: "l1", text: "", book: $0.lines[0].book), at: 0) }, { $0.owner = 1 },
        { $0.lines[0].book?.title = "b" }, { $0.lines[0].book?.stock = 9 }, { $0.lines[0].book = nil },
        // The layer lies below, is there beside its effect, or is gone before it.
        { $0.note = "<1><2><0><3>" }, { $0.note = "<1><0><2><2><3>" }, { $0.note = "<1><0><3>" },
      ] as [(inout ShownCarts.ShownCart) -> Void] {
        var changed = last
        change(&changed.carts[0])
        #expect(isFound([changed]))
      }
      #expect(isFound([ShownCarts(carts: [last.carts[0]])]))
      let books = try #require(states.books.last)
      #expect(books.books.map(\.title) == ["b<4>", "d"] && books.books.map(\.stock) == [8, 0])
      #expect(isFound([books, states.books[0]]) && isFound([ShownBooks(books: books.books.dropLast())]))
      for change in [{ $0.title = "b" }, { $0.title += "<4>" }, { $0.stock = 9 }]
        as [(inout DeviceMoment.BookRow) -> Void]
      {
        var changed = books
        change(&changed.books[0])
        #expect(isFound([changed]))
      }
    }

    @Test("A position steps back where a later one does not show all that it shows")
    func positions() throws {
      func shows(_ position: String, allOf other: String) throws -> Bool {
        let (a, b) = (ShownChanges(StorePosition(rawValue: position)), ShownChanges(StorePosition(rawValue: other)))
        return try #require(a).isSuperset(of: #require(b))
      }
      #expect(try shows("1.5", allOf: "1.5") && shows("1.6", allOf: "1.5") && !shows("1.4", allOf: "1.5"))
      #expect(try !shows("2.6", allOf: "1.5"))
      // Transactions of a database end in another order than they begin in.
      #expect(try shows("1..10", allOf: "1.7,8.10") && shows("1.7.10", allOf: "1.7,8.10"))
      #expect(try shows("1.10,11.12", allOf: "1..10") && shows("1.7.12", allOf: "1.7.10"))
      #expect(try !shows("1.7.10", allOf: "1..10") && !shows("1.7,8.12", allOf: "1.7.10"))
      #expect(try !shows("1..9", allOf: "1..10"))
      #expect(
        ShownChanges(StorePosition(rawValue: "1")) == nil && ShownChanges(StorePosition(rawValue: "1.x.3")) == nil)
    }
  }
#endif
