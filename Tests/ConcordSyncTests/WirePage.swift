#if Server && os(Linux)
  import Foundation

  /// A page on the wire, with the request for it. It is read without the code of the product.
  struct WirePage {
    /// The contents of a row by which those of the fault test differ.
    struct Row: Equatable {
      var values: [String]
      /// The rows that it refers to, in order, as "Line l1".
      var inside: [String]
      var stamp: Double
    }

    struct Subscription {
      /// The meaning of the subscription; `nil` if the server does not serve it.
      var meaning: FaultSubscription?
      /// The condition of the state that the device had; `nil` if it had none.
      var known: String?
      var condition: String?
      var isWhole: Bool
      /// The rows that enter, as "Cart 1".
      var entered: Set<String> = []
    }

    /// The position of the device; `nil` if it had none.
    var position: String?
    /// The user whose rows the device had; `nil` if it had none.
    var knownUser: String?
    /// The position that the page follows, and its own.
    var from: String?
    var to: String
    var user: String
    var subscriptions: [Subscription]
    /// The rows, by their names.
    var rows: [String: Row] = [:]
    /// Whether the page ends with the number of its rows.
    var isComplete = false

    /// - Returns: `nil` if not even the head is there.
    init?(_ received: ReceivedPage) {
      var lines = received.answer.split(separator: "\n")[...]
      guard let request = Self.object(received.request), let head = lines.popFirst().flatMap({ Self.object($0) }),
        let to = head["position"] as? String, let user = head["user"] as? String,
        let asked = request["subscriptions"] as? [[String: Any]],
        let served = head["subscriptions"] as? [[String: Any]], served.count == asked.count,
        let schema = head["schema"] as? [String: [String: Any]]
      else { return nil }
      (position, knownUser) = (request["position"] as? String, request["user"] as? String)
      (from, self.to, self.user) = (head["from"] as? String, to, user)
      subscriptions = zip(asked, served).map { Subscription(asked: $0, served: $1) }
      let columns = schema.mapValues { table in
        (table["columns"] as? [[String]] ?? []).compactMap(\.first)
      }
      var count = 0
      for line in lines {
        guard !isComplete, let line = Self.object(line) else {
          isComplete = false
          return
        }
        if let row = line["row"] as? [Any] {
          count += 1
          if let (name, row) = Self.row(row, columns) { rows[name] = row }
        } else if let entered = line["enter"] as? [Any] {
          enter(entered, served)
        } else if let end = line["end"] as? Int {
          isComplete = end == count && end == rows.count
        }
      }
    }

    private static func object(_ text: some StringProtocol) -> [String: Any]? {
      try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    }

    private mutating func enter(_ parts: [Any], _ served: [[String: Any]]) {
      guard parts.count == 2, let index = parts[0] as? Int, subscriptions.indices.contains(index),
        let ids = parts[1] as? [Any], let entity = served[index]["entity"] as? String
      else { return }
      subscriptions[index].entered.formUnion(ids.map { "\(entity) \($0)" })
    }

    private static func row(_ parts: [Any], _ columns: [String: [String]]) -> (name: String, row: Row)? {
      guard parts.count == 5, let entity = parts[0] as? String, let stamp = (parts[2] as? NSNumber)?.doubleValue,
        let values = parts[3] as? [Any], let lists = parts[4] as? [[[Any]]], let names = columns[entity],
        names.count == values.count
      else { return nil }
      let column = Dictionary(zip(names, values)) { $1 }
      func texts(_ names: String...) -> [String] { names.map { "\(column[$0] ?? "")" } }
      let (name, list) = ("\(entity) \(parts[1])", lists.first ?? [])
      switch entity {
      case "Cart":
        return (
          name,
          Row(
            values: texts("owner", "note"), inside: list.compactMap(\.last).map { "Line \($0)" }, stamp: stamp)
        )
      case "Line":
        let book = column["book"] as? Int
        return (name, Row(values: texts("text"), inside: book.map { ["Book \($0)"] } ?? [], stamp: stamp))
      case "Book": return (name, Row(values: texts("title", "stock"), inside: [], stamp: stamp))
      default: return nil
      }
    }

    /// The given rows, and those of the page that are inside of them.
    func closure(of roots: some Sequence<String>) -> Set<String> {
      var found = Set(roots)
      var open = Array(found)
      while let name = open.popLast() {
        for inside in rows[name]?.inside ?? [] where found.insert(inside).inserted { open.append(inside) }
      }
      return found
    }
  }

  extension WirePage.Subscription {
    fileprivate init(asked: [String: Any], served: [String: Any]) {
      let rest = (asked["parameters"] as? [String: Any])?["rest"] as? Int
      if served["refused"] == nil, let name = asked["name"] as? String {
        meaning = FaultSubscription(name: name, rest: rest.map { Int64($0) })
      }
      (known, condition) = (asked["known"] as? String, served["condition"] as? String)
      isWhole = served["whole"] as? Bool ?? false
    }
  }

  extension DeviceMoment {
    /// The rows of the file, as those of pages.
    var pageRows: [String: WirePage.Row] {
      var rows: [String: WirePage.Row] = [:]
      func add(_ name: String, _ values: [String], _ inside: [String] = []) {
        rows[name] = WirePage.Row(values: values, inside: inside, stamp: stamps[name] ?? .nan)
      }
      for cart in carts {
        add("Cart \(cart.id)", ["\(cart.owner)", cart.note], (lists[cart.id] ?? []).map { "Line \($0)" })
      }
      for line in lines { add("Line \(line.id)", [line.text], line.book.map { ["Book \($0)"] } ?? []) }
      for book in books { add("Book \(book.id)", [book.title, "\(book.stock)"]) }
      return rows
    }
  }
#endif
