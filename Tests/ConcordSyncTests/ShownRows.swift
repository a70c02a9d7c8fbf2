#if Server
  import ConcordServer

  /// The carts that a screen shows, in the order of their ids, with their lines and the books of these.
  struct ShownCarts: Codable, Hashable {
    struct ShownCart: Codable, Hashable {
      var id: Int64
      var owner: Int64
      var note: String
      var weight: Double
      var lines: [ShownLine]
    }
    struct ShownLine: Codable, Hashable {
      var id: String
      var text: String
      var book: DeviceMoment.BookRow?
    }

    var carts: [ShownCart]

    init(carts: [ShownCart]) { self.carts = carts }

    init(_ carts: [Cart]) {
      self.carts = carts.sorted { $0.id < $1.id }.map { cart in
        ShownCart(
          id: Int64(cart.id), owner: Int64(cart.owner), note: cart.note, weight: cart.weight,
          lines: cart.lines.map { line in
            ShownLine(id: line.id, text: line.text, book: line.book.map { DeviceMoment.BookRow($0) })
          })
      }
    }
  }

  /// The books that a screen shows, in the order of their ids.
  struct ShownBooks: Codable, Hashable {
    var books: [DeviceMoment.BookRow]

    init(books: [DeviceMoment.BookRow]) { self.books = books }
    init(_ books: [Book]) { self.books = books.sorted { $0.id < $1.id }.map { DeviceMoment.BookRow($0) } }
  }

  extension DeviceMoment.BookRow {
    init(_ book: Book) { self.init(id: Int64(book.id), title: book.title, stock: Int64(book.stock)) }
  }
#endif
