#if Server
  import ConcordServer
  import Foundation

  /// The rows of a device's file with the actions that wait above them, in order, as a screen is to show them.
  ///
  /// It shares no code with the actions, nor with the layers that show them: an action is shown whole, or not at all where an entity is missing that
  /// it changes.
  struct LayeredRows {
    private var carts: [Int64: DeviceMoment.CartRow]
    /// By cart, the lines in it.
    private var lists: [Int64: [String]]
    private var lines: [String: DeviceMoment.LineRow]
    private var books: [Int64: DeviceMoment.BookRow]

    private struct Body: Decodable {
      var cart: Int64?
      var owner: Int64?
      var book: Int64?
      var line: String?
      var text: String?
      var title: String?
      var isAdded: Bool?
    }

    /// - Parameter isLayered: whether the actions are shown.
    init(_ moment: DeviceMoment, isLayered: Bool = true) {
      carts = Dictionary(moment.carts.map { ($0.id, $0) }) { $1 }
      lines = Dictionary(moment.lines.map { ($0.id, $0) }) { $1 }
      books = Dictionary(moment.books.map { ($0.id, $0) }) { $1 }
      lists = moment.lists
      guard isLayered else { return }
      for action in moment.actions where action.state == "pending" { apply(action) }
    }

    private mutating func apply(_ action: DeviceMoment.Action) {
      guard let text = action.body, let body = try? JSONDecoder().decode(Body.self, from: Data(text.utf8)) else {
        return
      }
      switch action.name {
      case Append.name: if let cart = body.cart { carts[cart]?.note += body.text ?? "" }
      case Give.name:
        guard let id = body.cart, var cart = carts[id] else { return }
        cart.owner = body.owner ?? cart.owner
        cart.note += body.text ?? ""
        carts[id] = cart
      case Rename.name:
        guard let id = body.book, let book = books[id], let title = body.title else { return }
        books[id]?.title = body.isAdded == true ? book.title + title : title
      case AddLine.name:
        guard let cart = body.cart, carts[cart] != nil, let id = body.book, let book = books[id], book.stock > 0,
          let line = body.line
        else { return }
        books[id]?.stock -= 1
        lines[line] = DeviceMoment.LineRow(id: line, text: line, book: id)
        lists[cart, default: []].append(line)
      case RemoveLine.name:
        guard let cart = body.cart, let line = body.line, lists[cart]?.contains(line) == true else { return }
        lines[line]?.text = RemoveLine.mark
        lists[cart]?.removeAll { $0 == line }
      default: break
      }
    }

    var shownCarts: ShownCarts {
      ShownCarts(
        carts: carts.values.sorted { $0.id < $1.id }.map { cart in
          let shown = (lists[cart.id] ?? []).compactMap { lines[$0] }.map { line in
            ShownCarts.ShownLine(id: line.id, text: line.text, book: line.book.flatMap { books[$0] })
          }
          // The program takes the default where its model has no weight.
          let weight = cart.weight ?? Cart(id: 0, owner: 0).weight
          return ShownCarts.ShownCart(id: cart.id, owner: cart.owner, note: cart.note, weight: weight, lines: shown)
        })
    }

    var shownBooks: ShownBooks { ShownBooks(books: books.values.sorted { $0.id < $1.id }) }
  }

  /// What a screen may show, one after the other.
  struct ScreenStates {
    var carts: [ShownCarts]
    var books: [ShownBooks]

    init(_ moments: [DeviceMoment]) {
      let layered = moments.map { LayeredRows($0) }
      (carts, books) = (layered.map(\.shownCarts), layered.map(\.shownBooks))
    }

    /// Compares what a screen has shown with what it may show: the states of the file with the actions that wait, in their order.
    ///
    /// - Returns: what it has shown that is no state, or an earlier one than it has shown before.
    static func violations<State: Equatable>(_ shown: [State], of states: [State]) -> [String] {
      var (found, last) = ([String](), 0)
      for state in shown {
        if let next = states[last...].firstIndex(of: state) {
          last = next
        } else if let earlier = states.lastIndex(of: state) {
          found.append("the screen has stepped back from the state \(last) to \(earlier): \(state)")
        } else {
          found.append("the screen has shown what the file never had, after the state \(last): \(state)")
        }
      }
      return found
    }
  }
#endif
