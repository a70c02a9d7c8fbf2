#if Macros
  import ConcordPersistence
  import ConcordPersistenceMacros
  import Foundation
  import Testing

  @Suite("What macros describe comes back from a store")
  struct RoundTripTests {
    private func shelf(_ number: Int, medium: Medium, in media: [Medium] = []) -> Shelf {
      let item = Item(id: number * 10, text: "first \(number)")
      let other = Item(id: number * 10 + 1, text: "second \(number)")
      let isFull = number % 2 == 0
      return Shelf(
        id: UUID(), name: "Shelf\0\(number)", number: number, date: Date(timeIntervalSinceReferenceDate: 0.1),
        genre: .poem, other: isFull ? .novel : nil, point: Point(x: -0.0, label: "a"), points: [Point(), Point(x: 2)],
        maybePoint: isFull ? Point(x: 3) : nil, price: Price(cents: number), twice: isFull ? .some(.none) : .none,
        tags: ["a", "b"], counts: ["a": number], first: item, second: isFull ? other : nil,
        items: [other, item, other],
        maybeItems: isFull ? [] : nil, slice: [item, item], set: [item, other], byName: ["": item, "b": other],
        byPoint: isFull ? [Point(): item] : nil, medium: medium, maybeMedium: isFull ? medium : nil, media: media,
        credits: Credits(author: item, editors: [other, item], note: "\(number)"), asSold: item,
        asSoldMaybe: isFull ? other : nil, plain: "plain", default: number, row: number, conditional: number)
    }

    private var shelves: [Shelf] {
      let (item, other) = (Item(id: 1000, text: "x"), Item(id: 1001, text: "y"))
      let media: [Medium] = [
        .item(item), .maybe(other), .maybe(nil), .note("\0"), .pair(first: item, Point(x: 4)), .by(item: other),
        .by(name: "z"), .none,
      ]
      return media.enumerated().map { shelf($0, medium: $1) } + [shelf(300, medium: .none, in: media)]
    }

    @Test("Every kind of property", arguments: Storage.allCases)
    func everyKind(_ storage: Storage) throws {
      try storage.withContainer([Shelf.self, Item.self]) { container in
        let context = container.newBackgroundContext()
        for shelf in shelves {
          context.insert(shelf)
          try context.save()
          #expect(try container.newBackgroundContext().find(Shelf.self, id: shelf.id) == shelf)
        }
      }
    }

    @Test("What is transient has its default again, and what is ignored stays as it was", arguments: Storage.allCases)
    func transientAndIgnored(_ storage: Storage) throws {
      try storage.withContainer([Shelf.self, Item.self]) { container in
        var shelf = shelf(2, medium: .none)
        (shelf.isSelected, shelf.shown, shelf.credits.isOpen) = (true, Item(id: 77, text: "shown"), true)
        let context = container.newBackgroundContext()
        context.insert(shelf)
        try context.save()
        try context.update(Item.self, id: shelf.first.id) { $0.text = "changed" }
        try context.save()
        let found = try #require(try container.newBackgroundContext().find(Shelf.self, id: shelf.id))
        #expect(!found.isSelected && found.shown == nil && !found.credits.isOpen)
        #expect(found.first.text == "changed" && found.credits.author.text == "changed")
        #expect(found.asSold.text == "first 2" && found.asSoldMaybe == shelf.asSoldMaybe)
        #expect(try container.newBackgroundContext().find(Item.self, id: 77) == nil)
      }
    }

    @Test("A reference may be unique", arguments: Storage.allCases)
    func uniqueReference(_ storage: Storage) throws {
      try storage.withContainer([Shelf.self, Item.self]) { container in
        let context = container.newBackgroundContext()
        var (a, b) = (shelf(1, medium: .none), shelf(3, medium: .none))
        (a.second, b.second) = (a.first, a.first)
        context.insert(a)
        context.insert(b)
        #expect(throws: StoreError.self) { try context.save() }
        try context.update(Shelf.self, id: b.id) { $0.second = nil }
        try context.save()
        #expect(try container.newBackgroundContext().count(FetchDescriptor<Shelf>()) == 2)
      }
    }

    @Test("A generic type, and one whose identity is another property", arguments: Storage.allCases)
    func genericAndOtherID(_ storage: Storage) throws {
      try storage.withContainer([Page<Point>.self, Edition.self, Item.self]) { container in
        let context = container.newBackgroundContext()
        let page = Page(id: 1, content: Point(x: 5), items: [Item(id: 1, text: "a")])
        let edition = Edition(isbn: "978", title: "Emma")
        context.insert(page)
        context.insert(edition)
        try context.save()
        let other = container.newBackgroundContext()
        #expect(try other.find(Page<Point>.self, id: 1) == page)
        #expect(try other.find(Edition.self, id: "978") == edition)
        #expect(try other.fetch(FetchDescriptor<Edition>(predicate: #Predicate { $0.isbn == "978" })) == [edition])
      }
    }

    @Test("What cannot be stored as the entity that it is, a model refuses")
    func refused() throws {
      var reasons: [String] = []
      for type in [Constant.self, Indexed.self] as [any PersistentEntity.Type] {
        do { _ = try Model("M", entities: [type, Item.self]) } catch StoreError.invalidModel(_, let reason) {
          reasons.append(reason)
        }
      }
      #expect(
        reasons == [
          "Constant: 'items' holds entities, which would be stored as plain values: declare it with 'var', without options",
          "Indexed: 'items' holds entities, which would be stored as plain values: declare it with 'var', without options",
        ])
    }
  }

  /// Described by hand, since the macro warns of the constant.
  private struct Constant: PersistentEntity, Aggregate {
    let id: Int
    let items: [Item]
    static let persistentProperties: [PersistentProperty<Constant>] = [.init("id", \.id), .init("items", \.items)]
    init(from row: inout RowReader) throws { (id, items) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(items)
    }
  }

  @PersistentEntity private struct Indexed {
    let id: Int
    @Attribute(.indexed) var items: Set<Item>
  }
#endif
