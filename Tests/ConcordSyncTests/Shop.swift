#if Server
  import ConcordServer
  import Foundation

  struct Book: PersistentEntity, Equatable, Codable {
    let id: Int
    var title: String
    var stock: Int

    static let persistentProperties: [PersistentProperty<Book>] = [
      .init("id", \.id), .init("title", \.title), .init("stock", \.stock),
    ]
    init(from row: inout RowReader) throws {
      self.init(id: try row.read(), title: try row.read(), stock: try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(stock)
    }
    init(id: Int, title: String, stock: Int = 10) { (self.id, self.title, self.stock) = (id, title, stock) }
  }

  struct Line: PersistentEntity, Aggregate, Equatable, Codable {
    let id: String
    var text: String
    var book: Book?

    static let persistentProperties: [PersistentProperty<Line>] = [
      .init("id", \.id), .init("text", \.text), .init("book", \.book),
    ]
    init(from row: inout RowReader) throws {
      self.init(id: try row.read(), text: try row.read(), book: try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(text)
      try row.write(book)
    }
    init(id: String, text: String = "", book: Book? = nil) { (self.id, self.text, self.book) = (id, text, book) }
  }

  /// The release of the program.
  enum Release {
    /// Whether carts have no weight yet, and there are no labels, as in a process of the fault test.
    static let isEarlier = ProcessInfo.processInfo.environment["CONCORD_FAULT_RELEASE"] == "earlier"
  }

  struct Cart: PersistentEntity, Aggregate, Equatable, Codable {
    let id: Int
    var owner: Int
    var note: String
    var weight: Double
    var lines: [Line]

    static let persistentProperties: [PersistentProperty<Cart>] = {
      let weight: [PersistentProperty<Cart>] =
        Release.isEarlier ? [] : [.init("weight", \.weight, default: defaultWeight)]
      return [.init("id", \.id), .init("owner", \.owner, .indexed), .init("note", \.note)] + weight + [
        .init("lines", \.lines)
      ]
    }()
    private static let defaultWeight = 0.1

    init(from row: inout RowReader) throws {
      self.init(
        id: try row.read(), owner: try row.read(), note: try row.read(),
        weight: Release.isEarlier ? Self.defaultWeight : try row.read(), lines: try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(owner)
      try row.write(note)
      if !Release.isEarlier { try row.write(weight) }
      try row.write(lines)
    }
    init(id: Int, owner: Int, note: String = "", weight: Double = defaultWeight, lines: [Line] = []) {
      (self.id, self.owner, self.note, self.weight, self.lines) = (id, owner, note, weight, lines)
    }
  }

  struct Label: PersistentEntity, Equatable {
    let id: Int
    var owner: Int
    var name: String

    static let persistentProperties: [PersistentProperty<Label>] = [
      .init("id", \.id), .init("owner", \.owner), .init("name", \.name, .unique),
    ]
    init(from row: inout RowReader) throws {
      self.init(id: try row.read(), owner: try row.read(), name: try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(owner)
      try row.write(name)
    }
    init(id: Int, owner: Int, name: String) { (self.id, self.owner, self.name) = (id, owner, name) }
  }

  func shopModel() throws -> Model {
    let entities: [any PersistentEntity.Type] = [Book.self, Line.self, Cart.self]
    return try Model("Shop", entities: entities + (Release.isEarlier ? [] : [Label.self]))
  }

  // MARK: Actions

  struct OutOfStock: Error, CustomStringConvertible { let description = "out of stock" }

  /// Adds a line, and takes one of the book's stock.
  struct AddLine: SyncAction {
    var cart: Int
    var book: Int
    var line: String
    static let name = "add-line"
    var entity: AnyEntityReference { .init(Cart.self, id: cart) }
    var touches: [AnyEntityReference] { [.init(Book.self, id: book)] }

    func apply(to store: EntityStore) throws {
      var taken: Book?
      store.update(Book.self, id: book) { book in
        book.stock -= 1
        taken = book
      }
      if let taken, taken.stock < 0 { throw OutOfStock() }
      store.update(Cart.self, id: cart) { $0.lines.append(Line(id: line, text: line, book: taken)) }
    }
  }

  /// Takes a line out of a cart, and marks it.
  struct RemoveLine: SyncAction {
    var cart: Int
    var line: String
    static let name = "remove-line"
    /// The text of lines that were taken out.
    static let mark = "removed"
    var entity: AnyEntityReference { .init(Cart.self, id: cart) }
    func apply(to store: EntityStore) throws {
      guard store.value(Cart.self, id: cart)?.lines.contains(where: { $0.id == line }) == true else { return }
      store.update(Line.self, id: line) { $0.text = Self.mark }
      store.update(Cart.self, id: cart) { cart in cart.lines.removeAll { $0.id == line } }
    }
  }

  /// Adds its text to the note, so that doubles and wrong orders show.
  struct Append: SyncAction {
    var cart: Int
    var text: String
    static let name = "append"
    var entity: AnyEntityReference { .init(Cart.self, id: cart) }
    func apply(to store: EntityStore) throws { store.update(Cart.self, id: cart) { $0.note += text } }
  }

  /// Gives a cart to another user, and may add a text to the note, so that doubles and wrong orders show.
  struct Give: SyncAction {
    var cart: Int
    var owner: Int
    var text: String?
    static let name = "give"
    var entity: AnyEntityReference { .init(Cart.self, id: cart) }
    func apply(to store: EntityStore) throws {
      store.update(Cart.self, id: cart) { cart in
        cart.owner = owner
        cart.note += text ?? ""
      }
    }
  }

  struct Rename: SyncAction {
    var book: Int
    var title: String
    /// Whether the title is added to the one that the book has, so that doubles and wrong orders show.
    var isAdded: Bool?
    static let name = "rename"
    var entity: AnyEntityReference { .init(Book.self, id: book) }
    func apply(to store: EntityStore) throws {
      store.update(Book.self, id: book) { $0.title = isAdded == true ? $0.title + title : title }
    }
  }

  /// Stores a whole cart that it does not name.
  struct Overwrite: SyncAction {
    var cart: Int
    var other: Int
    static let name = "overwrite"
    var entity: AnyEntityReference { .init(Cart.self, id: cart) }
    func apply(to store: EntityStore) throws { store.store(Cart(id: other, owner: 1, note: "mine")) }
  }

  /// Names a cart, about which the rule is asked, and reaches for what is another user's.
  struct Reach: SyncAction {
    enum Way: String, Codable, CaseIterable { case update, remove, replace, contain, line, unique, id, shared }
    var cart: Int
    var way: Way
    static let name = "reach"
    var entity: AnyEntityReference { .init(Cart.self, id: cart) }

    func apply(to store: EntityStore) throws {
      switch way {
      case .update: store.update(Cart.self, id: 2) { $0.note = "mine" }
      case .remove: store.remove(Cart.self, id: 2)
      case .replace: store.store(Cart(id: 2, owner: cart, note: "mine"))
      case .contain: store.update(Cart.self, id: cart) { $0.lines.append(Line(id: "other", text: "mine")) }
      case .line: store.store(Line(id: "other", text: "mine"))
      case .unique: store.store(Label(id: 9, owner: cart, name: "taken"))
      case .id: store.store(Cart(id: 3, owner: cart, lines: [Line(id: "other", text: "mine")]))
      case .shared: store.remove(Line.self, id: "shared")
      }
    }
  }

  /// Is not registered with the server.
  struct Unknown: SyncAction {
    var cart: Int
    static let name = "unknown"
    var entity: AnyEntityReference { .init(Cart.self, id: cart) }
    func apply(to store: EntityStore) throws { store.update(Cart.self, id: cart) { $0.note += "?" } }
  }
#endif
