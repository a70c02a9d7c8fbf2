#if Server
  import ConcordServer
  import Foundation

  /// What a device's file has at one moment, as its process notes it.
  struct DeviceMoment: Codable, Equatable {
    struct CartRow: Codable, Equatable {
      var id: Int64
      var owner: Int64
      var note: String
      /// The weight; `nil` if the device's model does not know it.
      var weight: Double?
      var lines: Int64
    }
    struct LineRow: Codable, Equatable {
      var id: String
      var text: String
      var book: Int64?
    }
    struct BookRow: Codable, Hashable {
      var id: Int64
      var title: String
      var stock: Int64
    }
    /// A row of the outbox.
    struct Action: Codable, Equatable {
      var key: String
      /// The effect that its body promises; `nil` once it is finished, or if it promises none that can be recognised.
      var effect: Effect?
      var state: String
      var name = ""
      /// The action as JSON, while it waits.
      var body: String?
      /// Whether it is a dead letter of which it is not known whether it had its effect, for an earlier user.
      var isUndecided = false
    }

    var position: String?
    /// The user whose rows the file has; `nil` if it has no page yet.
    var user: Int64?
    /// The subscriptions whose state is in the file, as they are noted.
    var subscriptions: [String] = []
    /// Those whose state is not in the file yet.
    var begun: [String] = []
    var carts: [CartRow] = []
    /// By cart, the lines in it.
    var lists: [Int64: [String]] = [:]
    var lines: [LineRow] = []
    var books: [BookRow] = []
    /// The stamps of the rows, by their names, as "Cart 1".
    var stamps: [String: Double] = [:]
    /// In the order in which they were forwarded.
    var actions: [Action] = []
    /// The entities of which the device notes that they stay because actions wait that name them, as "Cart 1".
    var kept: Set<String> = []
    /// Whether a row is missing that another one refers to, as in a torn page.
    var isTorn = false

    /// Whether it has nothing of what only pages bring.
    var isWithoutPage: Bool {
      carts.isEmpty && lines.isEmpty && books.isEmpty && subscriptions.isEmpty
        && !actions.contains { $0.state == "sent" }
    }
  }

  extension DeviceMoment {
    init(_ store: any RowStore, _ model: Model) throws {
      self = try store.read { try DeviceMoment($0, model) }
    }

    private init(_ reading: any RowReading, _ model: Model) throws {
      self.init()
      position = try reading.note(NoteName("sync", "position"))
      user = try reading.note(NoteName("sync", "user")).flatMap { Int64($0) }
      // The first state of a subscription is whole when it is known.
      try reading.notes(in: "sync.subscriptions", after: nil) { text, state in
        if state.hasPrefix("known ") { subscriptions.append(text) } else { begun.append(text) }
        return true
      }
      try reading.notes(in: "sync.lingering", after: nil) { name, _ in
        // The entity, a letter for the type of the key, and the key.
        let parts = name.split(separator: "\n", maxSplits: 1)
        if parts.count == 2 { kept.insert("\(parts[0]) \(parts[1].dropFirst())") }
        return true
      }
      let outbox = try reading.outbox(after: nil).rows + reading.outbox(after: .empty).rows
      for row in outbox.sorted(by: { $0.number < $1.number }) where actions.last?.key != row.key {
        actions.append(
          Action(
            key: row.key, effect: Effect(row.action, row.body), state: row.state.rawValue, name: row.action,
            body: row.state == .pending ? row.body : nil,
            isUndecided: row.state == .refused && FaultLetter.isUndecided(row.reason ?? "")))
      }
      (carts, lines, books) = try Self.rows(reading, model) { id, list in
        lists[id] = list
      } stamps: { name, stamp in
        // JSON has no infinity, which a row without a stamp has.
        if stamp.isFinite { stamps[name] = stamp }
      }
      let (lineIDs, bookIDs) = (Set(lines.map(\.id)), Set(books.map(\.id)))
      isTorn =
        carts.contains { $0.lines != Int64(lists[$0.id]?.count ?? 0) }
        || !lists.values.joined().allSatisfy(lineIDs.contains) || !lines.compactMap(\.book).allSatisfy(bookIDs.contains)
    }

    /// Reads all rows of a store.
    ///
    /// - Parameters:
    ///   - list: a closure that receives the lines of each cart.
    ///   - stamps: a closure that receives the name and the stamp of each row.
    static func rows(
      _ reading: any RowReading, _ model: Model, _ list: (Int64, [String]) -> Void = { _, _ in },
      stamps: (String, Double) -> Void = { _, _ in }
    ) throws -> (carts: [CartRow], lines: [LineRow], books: [BookRow]) {
      var (carts, lines, books): ([CartRow], [LineRow], [BookRow]) = ([], [], [])
      for entity in model.entities {
        try reading.rows(RowQuery(entity)) { _, source in
          let values = Values(entity, entity.columns.indices.map { source.value(at: $0) })
          stamps("\(entity.name) \(values.name)", source.stamp)
          switch entity.name {
          case "Cart":
            let row = CartRow(values)
            carts.append(row)
            list(row.id, try source.collection(0).compactMap { if case .text(let id)? = $0.last { id } else { nil } })
          case "Line": lines.append(LineRow(values))
          case "Book": books.append(BookRow(values))
          default: break
          }
          return true
        }
      }
      return (carts, lines, books)
    }

    /// The values of a row by the names of its columns.
    struct Values {
      private let values: [String: StoredValue]

      init(_ entity: EntityDescription, _ values: [StoredValue]) {
        self.values = Dictionary(zip(entity.columns.map(\.name), values)) { $1 }
      }

      /// The id as a text.
      var name: String { integer("id").map { "\($0)" } ?? text("id") }

      func integer(_ name: String) -> Int64? { if case .integer(let number)? = values[name] { number } else { nil } }
      func text(_ name: String) -> String { if case .text(let text)? = values[name] { text } else { "" } }
      func real(_ name: String) -> Double? { if case .real(let number)? = values[name] { number } else { nil } }
    }
  }

  extension DeviceMoment.CartRow {
    init(_ values: DeviceMoment.Values) {
      self.init(
        id: values.integer("id") ?? -1, owner: values.integer("owner") ?? -1, note: values.text("note"),
        weight: values.real("weight"), lines: values.integer("lines") ?? -1)
    }
  }

  extension DeviceMoment.LineRow {
    init(_ values: DeviceMoment.Values) {
      self.init(id: values.text("id"), text: values.text("text"), book: values.integer("book"))
    }
  }

  extension DeviceMoment.BookRow {
    init(_ values: DeviceMoment.Values) {
      self.init(
        id: values.integer("id") ?? -1, title: values.text("title"), stock: values.integer("stock") ?? .min)
    }
  }

  /// What an action leaves on the server for ever, so that each state tells whether it contains the action.
  enum Effect: Codable, Hashable {
    /// A text in a cart's note, or in a book's title.
    case text(String)
    /// A line, wherever it stands.
    case line(String)

    private struct Body: Decodable {
      var text: String?
      var line: String?
      var title: String?
    }

    init?(_ action: String, _ body: String) {
      guard let body = try? JSONDecoder().decode(Body.self, from: Data(body.utf8)) else { return nil }
      switch (action, body.text, body.line, body.title) {
      case (Append.name, let text?, _, _), (Give.name, let text?, _, _), (Rename.name, _, _, let text?):
        self = .text(text)
      case (AddLine.name, _, let line?, _): self = .line(line)
      default: return nil
      }
    }
  }

  /// An action that a device has queued, or that was refused.
  struct FaultAction: Codable, Hashable {
    var name: String
    /// The text that it adds to a note or a title, or the line that it adds or removes.
    var effect: String

    init(name: String, effect: String) { (self.name, self.effect) = (name, effect) }

    init?(_ action: any ForwardAction) {
      switch action {
      case let action as Append: self.init(name: Append.name, effect: action.text)
      case let action as AddLine: self.init(name: AddLine.name, effect: action.line)
      case let action as RemoveLine: self.init(name: RemoveLine.name, effect: action.line)
      case let action as Give: self.init(name: Give.name, effect: action.text ?? "")
      case let action as Rename: self.init(name: Rename.name, effect: action.title)
      default: return nil
      }
    }
  }

  /// The clock of a process.
  struct ClockReading: Codable {
    /// The seconds by which it was to differ from that of the machine.
    var offset: Int
    /// The date that the process had at its start, in seconds since 1970.
    var date: Double
  }

  /// What a device has when all is decided.
  struct DeviceEnd: Codable {
    var user: Int
    var carts: [Cart]
    var books: [Book]
    /// What its screen has.
    var shownCarts: [Cart]
    var shownBooks: [Book]
    /// Its subscriptions, as they are noted.
    var subscriptions: [String]
    var pending: Int
    var letters: [FaultLetter]
  }
#endif
