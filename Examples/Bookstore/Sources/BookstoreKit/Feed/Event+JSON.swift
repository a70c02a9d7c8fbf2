extension Event {
  static let types = ["price", "stock", "review", "title", "name", "remove"]

  /// Reads one line of the feed.
  init(json bytes: some Sequence<UInt8>) throws(JSONProblem) {
    let root = try JSONParser.parse(bytes)
    let type = try root.text("type", of: "an event")
    let what = "a \(type) event"
    switch type {
    case "price":
      let cents = try root.integer("cents", of: what, in: 0...100_000_000)
      self.init(.price(book: try root.text("book", of: what), cents: cents))
    case "stock":
      let count = try root.integer("count", of: what, in: 0...100_000_000)
      self.init(.stock(book: try root.text("book", of: what), count: count))
    case "review":
      let review = Review(
        id: try root.text("id", of: what),
        stars: try root.integer("stars", of: what, in: 1...5),
        by: try root.text("by", of: what),
        text: try root.text("text", of: what))
      self.init(.review(book: try root.text("book", of: what), review))
    case "title":
      self.init(.title(book: try root.text("book", of: what), title: try root.text("title", of: what)))
    case "name":
      self.init(.name(author: try root.text("author", of: what), name: try root.text("name", of: what)))
    case "remove":
      self.init(.remove(book: try root.text("book", of: what)))
    default:
      throw root.problem("unknown type \"\(type)\", known are \(Self.types.joined(separator: ", "))")
    }
    guard let time = try root.fields(of: what)["at"] else { return }
    guard case .number(let at) = time.content else {
      throw time.problem("\"at\" of \(what) must be a number, found \(time.kind)")
    }
    self.at = at
  }

  /// The event as one line of the feed.
  public var json: String {
    var fields: [String] = []
    func add(_ name: String, _ value: String) { fields.append("\"\(name)\":\"\(value.jsonEscaped)\"") }
    func add(_ name: String, _ value: Int) { fields.append("\"\(name)\":\(value)") }
    switch change {
    case .price(let book, let cents):
      add("type", "price")
      add("book", book)
      add("cents", cents)
    case .stock(let book, let count):
      add("type", "stock")
      add("book", book)
      add("count", count)
    case .review(let book, let review):
      add("type", "review")
      add("book", book)
      add("id", review.id)
      add("stars", review.stars)
      add("by", review.by)
      add("text", review.text)
    case .title(let book, let title):
      add("type", "title")
      add("book", book)
      add("title", title)
    case .name(let author, let name):
      add("type", "name")
      add("author", author)
      add("name", name)
    case .remove(let book):
      add("type", "remove")
      add("book", book)
    }
    if let at { fields.append("\"at\":\(at)") }
    return "{\(fields.joined(separator: ","))}"
  }
}

extension String {
  fileprivate var jsonEscaped: String {
    unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\u{0}"..<" ":
        let code = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - code.count) + code
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}
