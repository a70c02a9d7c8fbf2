#if Server
  import ConcordServer
  import Foundation

  /// A book of an earlier model.
  struct OldBook: PersistentEntity, Equatable {
    let id: Int
    var title: String

    static let entityName = "Book"
    static let persistentProperties: [PersistentProperty<OldBook>] = [.init("id", \.id), .init("title", \.title)]
    init(from row: inout RowReader) throws { (id, title) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
    }
  }

  /// A book of a later model, with a property that may be absent.
  struct NewBook: PersistentEntity, Equatable {
    let id: Int
    var title: String
    var author: String?

    static let entityName = "Book"
    static let persistentProperties: [PersistentProperty<NewBook>] = [
      .init("id", \.id), .init("title", \.title), .init("author", \.author),
    ]
    init(from row: inout RowReader) throws { (id, title, author) = (try row.read(), try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(author)
    }
  }

  /// A book of a later model, with a property that must not be absent.
  struct StrictBook: PersistentEntity, Equatable {
    let id: Int
    var title: String
    var author: String

    static let entityName = "Book"
    static let persistentProperties: [PersistentProperty<StrictBook>] = [
      .init("id", \.id), .init("title", \.title), .init("author", \.author),
    ]
    init(from row: inout RowReader) throws { (id, title, author) = (try row.read(), try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(author)
    }
  }

  /// A book of a later model, with a property that has a default.
  struct ThickBook: PersistentEntity, Equatable {
    let id: Int
    var title: String
    var stock: Int
    var pages: Int

    static var entityName: String { "Book" }
    static let persistentProperties: [PersistentProperty<ThickBook>] = [
      .init("id", \.id), .init("title", \.title), .init("stock", \.stock), .init("pages", \.pages, default: 0),
    ]
    init(from row: inout RowReader) throws {
      (id, title, stock, pages) = (try row.read(), try row.read(), try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(stock)
      try row.write(pages)
    }
  }
#endif
