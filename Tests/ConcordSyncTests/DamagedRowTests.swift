#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Logging
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordSync

  /// Rows that another program has given values that their columns do not have.
  @Suite(.timeLimit(.minutes(2)))
  struct DamagedRowTests {
    @Test("A server does not serve what its model cannot read, names it in the log, and goes on when it is mended")
    func server() async throws {
      let lines = Kept<[[String: String]]>([])
      let log = Logger(label: "shop") { _ in KeptLines(lines: lines) }
      try await withWorld(log: log) { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", book: Book(id: 1, title: "A", stock: 5))]))
          context.insert(Cart(id: 2, owner: 2))
          context.insert(Cart(id: 3, owner: 1))
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        let before = try device.stored(Cart.self)
        let reason = "the service answered 503: the server has a row that it cannot read"
        for (entity, id, column, value, mended, told) in [
          ("Book", "1", "stock", "'abc'", "7", "'abc' cannot be read as Int"),
          ("Book", "1", "stock", "1.5", "8", "1.5 cannot be read as Int"),
          ("Line", "'l'", "text", "x'ff00'", "'fine'", "2 bytes cannot be read as String"),
        ] {
          try world.write("UPDATE \(entity) SET \(column) = \(value) WHERE id = \(id)")
          #expect(
            try await eventually { device.sync.status == .offline(.unreachable(reason)) }, "\(device.sync.status)")
          #expect((try? device.stored(Cart.self).count) == before.count)
          let line = [
            "message": "a row cannot be read: it is not sent, and no action that needs it is decided",
            "level": "error",
            "entity": entity, "id": id, "column": column, "reason": told,
          ]
          #expect(lines.withLock { $0.filter { $0 == line }.count } == 1, "\(lines.withLock { $0 })")
          // Whom it does not concern is served.
          let other = try await world.device("other-\(column)-\(told.count)", user: 2)
          try await other.sync.subscribe("carts").ready()
          #expect(try other.stored(Cart.self).map(\.id) == [2])
          try await other.stop()
          // Whoever comes anew gets nothing of it.
          let fresh = try await world.device("fresh-\(column)-\(told.count)")
          fresh.sync.subscribe("carts")
          #expect(
            try await eventually { fresh.sync.status == .offline(.unreachable(reason)) }, "\(fresh.sync.status)")
          #expect(try fresh.stored(Cart.self).isEmpty)
          try await fresh.stop()
          try world.write("UPDATE \(entity) SET \(column) = \(mended) WHERE id = \(id)")
          try await device.sync.checkpoint()
          #expect(device.sync.status == .upToDate)
          #expect(try device.stored(Cart.self) == world.served(Cart.self).filter { $0.owner == 1 })
        }
        #expect(try device.stored(Cart.self).first?.lines.first?.book?.stock == 8)
        try await device.stop()
      }
    }

    @Test("An action that needs a row that cannot be read waits until it is mended")
    func action() async throws {
      let lines = Kept<[[String: String]]>([])
      let log = Logger(label: "shop") { _ in KeptLines(lines: lines) }
      try await withWorld(log: log) { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", book: Book(id: 1, title: "A", stock: 5))]))
          context.insert(Cart(id: 2, owner: 1))
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        try world.write("UPDATE Book SET stock = 'abc' WHERE id = 1")
        try await device.connect.forward(Rename(book: 1, title: "B"))
        try await device.connect.forward(AddLine(cart: 1, book: 1, line: "m"))
        try await device.connect.forward(Append(cart: 2, text: "x"))
        #expect(
          try await eventually { lines.withLock { $0.contains { $0["entity"] == "Book" && $0["column"] == "stock" } } })
        // What does not need it is decided.
        let second = FetchDescriptor<Cart>(predicate: #Predicate { $0.id == 2 })
        #expect(
          try await eventually { try world.container.newBackgroundContext().fetch(second).first?.note == "x" })
        try world.write("UPDATE Book SET stock = 7 WHERE id = 1")
        try await device.sync.checkpoint()
        #expect(device.connect.outbox.deadLetters.isEmpty)
        let cart = try device.stored(Cart.self).first { $0.id == 1 }
        #expect(cart?.lines.map(\.id) == ["l", "m"] && cart?.lines.last?.book?.title == "B")
        #expect(cart?.lines.last?.book?.stock == 6)
        try await device.stop()
      }
    }

    @Test(
      "A row for which the predicate of a publication has no answer is not sent, is named in the log, and stops no other row",
      arguments: Kind.allCases, ["divided", "computed"])
    func unanswered(_ kind: Kind, _ publication: String) async throws {
      let lines = Kept<[[String: String]]>([])
      let log = Logger(label: "shop") { _ in KeptLines(lines: lines) }
      try await withWorld(kind, log: log) { world in
        // What a store evaluates, and what is left to memory.
        world.service.publish("divided", of: Book.self) { _, _ in #Predicate<Book> { 10 / $0.stock > 0 } }
        world.service.publish("computed", of: Book.self) { _, _ in
          #Predicate<Book> { $0.title.description == "z" || 10 / $0.stock > 0 }
        }
        func put(_ id: Int, stock: Int) throws {
          let context = world.container.newBackgroundContext()
          context.insert(Book(id: id, title: "\(id)", stock: stock))
          try context.save()
        }
        for id in 1...5 { try put(id, stock: id == 2 ? 0 : 5) }
        let device = try await world.device("a")
        try await device.sync.subscribe(publication).ready()
        func stored() throws -> [Int] { try device.stored(Book.self).map(\.id).sorted() }
        #expect(try stored() == [1, 3, 4, 5])
        let line = [
          "message": "the predicate of a publication has no answer for a row: it is not sent", "level": "error",
          "publication": publication, "entity": "Book", "id": "2", "rows": "1",
        ]
        #expect(lines.withLock { $0.filter { $0 == line }.count } == 1, "\(lines.withLock { $0 })")
        // One that loses its answer leaves, and one that gets it enters.
        try put(3, stock: 0)
        try put(6, stock: 1)
        try await device.sync.checkpoint()
        #expect(try stored() == [1, 4, 5, 6])
        try put(2, stock: 3)
        try await device.sync.checkpoint()
        #expect(try stored() == [1, 2, 4, 5, 6])
        #expect(device.sync.status == .upToDate)
        try await device.stop()
      }
    }

    @Test(
      "A row that refers to one that another program has removed stops no pages where a predicate is evaluated in memory"
    )
    func danglingComputed() async throws {
      let lines = Kept<[[String: String]]>([])
      let log = Logger(label: "shop") { _ in KeptLines(lines: lines) }
      try await withWorld(log: log) { world in
        world.service.publish("computed", of: Cart.self) { _, _ in #Predicate<Cart> { $0.note.description != "z" } }
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l1", book: Book(id: 1, title: "A")), Line(id: "l2")]))
          context.insert(Cart(id: 2, owner: 1, lines: [Line(id: "l3")]))
          context.insert(Cart(id: 3, owner: 1, note: "z"))
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("computed").ready()
        #expect(try device.stored(Cart.self).map(\.id) == [1, 2])
        try world.write("DELETE FROM Line WHERE id = 'l1'")
        try #require(try await eventually { try device.stored(Cart.self).map(\.id) == [2] }, "\(device.sync.status)")
        try await device.sync.checkpoint()
        #expect(device.sync.status == .upToDate)
        let named = lines.withLock { $0.filter { $0["publication"] != nil } }
        #expect(named.count == 1 && named.first?["entity"] == "Cart" && named.first?["id"] == "1", "\(named)")
        // It comes back.
        try world.write("INSERT INTO Line (id, text, _stamp) VALUES ('l1', 'again', 1)")
        #expect(try await eventually { try device.stored(Cart.self).map(\.id) == [1, 2] })
        #expect(try device.stored(Line.self).map(\.text).sorted() == ["", "", "again"])
        try await device.stop()
      }
    }

    @Test("A row without an answer has no others looked at than those that the certain part of the predicate finds")
    func unansweredBesideDamaged() async throws {
      try await withWorld { world in
        world.service.publish("computed", of: Cart.self) { user, _ in
          let id = user.id
          return #Predicate<Cart> { $0.owner == id && 10 / ($0.id - 5) != 5 && $0.note.description != "z" }
        }
        try world.serve { context in
          for id in 1...8 { context.insert(Cart(id: id, owner: id < 7 ? 1 : 2, note: id == 1 ? "z" : "")) }
        }
        // They are of another user.
        try world.write("UPDATE Cart SET weight = 'abc' WHERE id IN (7, 8)")
        let device = try await world.device("a")
        let carts = device.sync.subscribe("computed")
        try #require(
          try await eventually { try device.stored(Cart.self).map(\.id) == [2, 3, 4, 6] }, "\(device.sync.status)")
        try await carts.ready()
        // A damaged row stops the pages of those whom it concerns.
        let other = try await world.device("b", user: 2)
        other.sync.subscribe("computed")
        let reason = "the service answered 503: the server has a row that it cannot read"
        #expect(try await eventually { other.sync.status == .offline(.unreachable(reason)) }, "\(other.sync.status)")
        try world.write("UPDATE Cart SET weight = 'abc' WHERE id = 2")
        #expect(try await eventually { device.sync.status == .offline(.unreachable(reason)) }, "\(device.sync.status)")
        try world.write("UPDATE Cart SET weight = 1")
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.id) == [2, 3, 4, 6])
        try await device.stop()
        try await other.stop()
      }
    }

    @Test("A device takes no row whose values do not have the types of its columns, and goes on when they have")
    func device() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Label(id: 1, owner: 1, name: "a")) }
        // As a server of an earlier release sends it.
        let network = Network { request in
          request.isForPages
            ? .answer(
              200,
              """
              {"version":1,"from":null,"position":"p","user":"1","actions":0,"keys":[],"schema":{"Label":{"columns":[["id","Int"],["owner","Int"],["name","String"]],"lists":[]}},"subscriptions":[{"entity":"Label","whole":true,"condition":"c"}]}
              {"enter":[0,[1]]}
              {"row":["Label",1,1.5,[1,"abc","n"],[]]}
              {"end":1}
              """) : .pass
        }
        let device = try await world.device("a", network: network)
        let labels = device.sync.subscribe("labels")
        #expect(
          try await eventually {
            device.sync.status
              == .offline(.storeFailed("Label 1, column 'owner': 'abc' cannot be read as Int"))
          }, "\(device.sync.status)")
        #expect((try? device.stored(Label.self).isEmpty) == true)
        network.set { _ in .pass }
        try await labels.ready()
        #expect(try device.stored(Label.self).map(\.name) == ["a"])
        try await device.stop()
      }
    }

    @Test("Each value of a row is looked at, and what a column may hold is taken")
    func values() throws {
      let model = try shopModel()
      func read<T: PersistentEntity>(
        _ type: T.Type, _ id: StoredValue, _ values: [StoredValue], _ lists: [StoredElements] = []
      ) throws -> String? {
        let entity = try model.entity(type)
        var page = Page(
          from: nil, position: "p", user: "1", actions: 0, keys: [], schema: WireSchema(model.entities),
          subscriptions: [])
        page.rows = [(EntityKey(entity, id), StoredRow(values: values, collections: lists, stamp: 1))]
        do {
          #expect(try Page(parsing: page.bytes, model).rows.first?.row == page.rows.first?.row)
          return nil
        } catch let error as StoreError {
          return "\(error)"
        }
      }
      let cart: [StoredValue] = [.integer(1), .integer(1), .text(""), .real(0.5), .integer(1)]
      #expect(try read(Cart.self, .integer(1), cart, [[[.text("l")]]]) == nil)
      // NaN, -0.0, and a whole number, which SQL may leave in such a column.
      for weight: StoredValue in [Double.nan.storedValue, (-0.0).storedValue, .integer(3)] {
        var cart = cart
        cart[3] = weight
        #expect(try read(Cart.self, .integer(1), cart, [[[.text("l")]]]) == nil)
      }
      for (index, value, column): (Int, StoredValue, String) in [
        (0, .text("1"), "id"), (1, .real(1), "owner"), (1, .null, "owner"), (2, .integer(1), "note"),
        (2, .null, "note"), (2, .blob(Data([1])), "note"), (3, .text("1"), "weight"), (3, .blob(Data([1])), "weight"),
        (4, .text("1"), "lines"), (4, .integer(-1), "lines"),
      ] {
        var cart = cart
        cart[index] = value
        let error = try read(Cart.self, .integer(1), cart, [[[.text("l")]]])
        #expect(error?.hasPrefix("Cart 1, column '\(column)': \(value) cannot be read as ") == true, "\(error ?? "")")
      }
      #expect(
        try read(Cart.self, .integer(1), cart, [[[.integer(5)]]])
          == "Cart 1, column 'lines': 5 cannot be read as String")
      #expect(try read(Cart.self, .text("x"), cart, [[[.text("l")]]])?.contains("'x' cannot be read as Int") == true)
      // An optional reference.
      #expect(try read(Line.self, .text("l"), [.text("l"), .text(""), .null]) == nil)
      #expect(try read(Line.self, .text("l"), [.text("l"), .text(""), .integer(1)]) == nil)
      #expect(
        try read(Line.self, .text("l"), [.text("l"), .text(""), .text("1")])
          == "Line 'l', column 'book': '1' cannot be read as Int")
    }
  }
#endif
