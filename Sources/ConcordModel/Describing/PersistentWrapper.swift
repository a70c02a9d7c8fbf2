public import Concord

/// A wrapper that is stored in the row of the entity that holds it: a column for its case, and one for each of its properties.
///
/// ```swift
/// enum Medium: PersistentWrapper {
///   case book(Book), game(Game)
///   var persistentCase: String { switch self { case .book: "book"; case .game: "game" } }
///
///   static let persistentProperties: [PersistentProperty<Medium>] = [.init("book", \.book), .init("game", \.game)]
///   init(case name: String, from row: inout RowReader) throws {
///     let (book, game): (Book?, Game?) = (try row.read(), try row.read())
///     switch (name, book, game) {
///     case ("book", let book?, _): self = .book(book)
///     case ("game", _, let game?): self = .game(game)
///     default: throw StoreError.unknownCase(name, of: Medium.self)
///     }
///   }
///   func write(to row: inout RowWriter) throws {
///     try row.write(book)
///     try row.write(game)
///   }
/// }
/// ```
///
/// `book` and `game` are the computed properties of an ``/Concord/EntityWrapper``.
public protocol PersistentWrapper: EntityWrapper {
  /// The stored properties, by position.
  static var persistentProperties: [PersistentProperty<Self>] { get }
  /// The name of the wrapper's case. The default is `value`.
  var persistentCase: String { get }
  /// Creates a wrapper from the row that holds it: reads the properties, in order.
  ///
  /// - Parameters:
  ///   - name: the name of the stored case, which ``persistentCase`` gave.
  ///   - row: the reader, which is at the first property of the wrapper.
  /// - Throws: ``StoreError/unknownCase(_:of:)`` for a name that the type does not have, and errors of the reader.
  init(case name: String, from row: inout RowReader) throws
  /// Writes the properties to the row that holds the wrapper, in order.
  ///
  /// - Throws: errors of the writer; any error for a value that cannot be stored.
  func write(to row: inout RowWriter) throws
}

extension PersistentWrapper {
  public var persistentCase: String { "value" }

  static func check(written count: Int) throws {
    let expected = persistentProperties.reduce(0) { $0 + $1.columns.count }
    guard count == expected else {
      throw StoreError.misdescribed(
        entity: String(describing: Self.self),
        reason: "\(expected.of("column is", "columns are")) described, \(count) written")
    }
  }
}
