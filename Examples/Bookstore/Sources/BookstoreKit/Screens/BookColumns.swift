/// A book as a row: title, author where there is room, price, stock, stars.
struct BookColumns {
  let width: Int
  var showsAuthor = true

  func row(_ book: Book, _ style: Style) -> Line {
    let numbers =
      BookColumns.price(book).rightAligned(in: 7) + BookColumns.stock(book).rightAligned(in: 5)
      + BookColumns.stars(book).rightAligned(in: 10)
    let room = max(0, width - numbers.columns)
    guard showsAuthor, room >= 30 else { return Line(book.title.printable.padded(to: room) + numbers, style) }
    let author = min(24, room / 3)
    return Line(
      book.title.printable.padded(to: room - author - 1) + " " + book.author.name.printable.padded(to: author)
        + numbers, style)
  }

  static func price(_ book: Book) -> String {
    let cents = book.cents % 100
    return "\(book.cents / 100).\(cents < 10 ? "0" : "")\(cents)"
  }

  static func stock(_ book: Book) -> String { book.stock == 0 ? "out" : "×\(book.stock)" }

  static func stars(_ book: Book) -> String {
    guard !book.reviews.isEmpty else { return "-" }
    let tenths = book.reviews.reduce(0) { $0 + $1.stars } * 10 / book.reviews.count
    return "★\(tenths / 10).\(tenths % 10) (\(book.reviews.count))"
  }
}
