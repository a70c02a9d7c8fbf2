#if Server
  import ConcordServer

  @testable import ConcordSync

  /// The meaning of a subscription of the fault test. It shares no code with the publications.
  enum FaultSubscription: Hashable {
    case carts
    case books
    case byStock(rest: Int64)

    /// - Parameter text: the text by which a device notes the subscription.
    /// - Returns: `nil` if it is another one.
    init?(text: String) {
      guard let id = SubscriptionID(text: text) else { return nil }
      self.init(name: id.name, rest: id.parameters["rest"]?.integer)
    }

    /// - Parameters:
    ///   - name: the name of the publication.
    ///   - rest: its parameter; `nil` if it has none.
    /// - Returns: `nil` if it is another one.
    init?(name: String, rest: Int64?) {
      switch (name, rest) {
      case ("carts", nil): self = .carts
      case ("books", nil): self = .books
      case ("by-stock", let rest?): self = .byStock(rest: rest)
      default: return nil
      }
    }

    /// The text by which a device notes it.
    var text: String {
      switch self {
      case .carts: SubscriptionID(name: "carts", parameters: [:]).text
      case .books: SubscriptionID(name: "books", parameters: [:]).text
      case .byStock(let rest): SubscriptionID(name: "by-stock", parameters: ["rest": .integer(rest)]).text
      }
    }

    /// Whether the predicate looks at other rows, so that all of the subscription comes when something of it has changed.
    var looksAtOtherRows: Bool { if case .byStock = self { true } else { false } }

    /// Whether a cart is one of the subscription.
    ///
    /// - Parameters:
    ///   - stocks: the stock of the book of each of its lines.
    ///   - user: the user who subscribes.
    func hasCart(of owner: Int64, withStocks stocks: [Int64], for user: Int64) -> Bool {
      switch self {
      case .carts: owner == user
      case .books: false
      case .byStock(let rest): stocks.contains { $0 % 2 == rest }
      }
    }

    /// Whether a book is one of the subscription, also where no cart contains it.
    func hasBook(withStock stock: Int64) -> Bool { self == .books && stock > 0 }
  }

  extension DeviceEnd {
    /// Whether the file and the screen have the carts and the books of the subscriptions, the user's own carts at least, and nothing else.
    ///
    func hasCarts(_ served: [Cart], _ servedBooks: [Book], of user: Int64) -> Bool {
      let subscriptions = subscriptions.compactMap { FaultSubscription(text: $0) }
      guard subscriptions.count == self.subscriptions.count, subscriptions.contains(.carts) else { return false }
      let wanted = served.filter { cart in
        let stocks = cart.lines.map { Int64($0.book?.stock ?? 0) }
        return subscriptions.contains { $0.hasCart(of: Int64(cart.owner), withStocks: stocks, for: user) }
      }
      let inside = Set(wanted.flatMap(\.lines).compactMap(\.book?.id))
      let wantedBooks = servedBooks.filter { book in
        inside.contains(book.id) || subscriptions.contains { $0.hasBook(withStock: Int64(book.stock)) }
      }
      return [carts, shownCarts].allSatisfy { ShownCarts($0) == ShownCarts(wanted) }
        && [books, shownBooks].allSatisfy { ShownBooks($0) == ShownBooks(wantedBooks) }
    }
  }
#endif
