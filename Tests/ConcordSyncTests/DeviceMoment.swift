#if Server
  import ConcordServer
  import Foundation

  /// What a device's file has at one moment, as its process notes it.
  struct DeviceMoment: Codable {
    struct Row: Codable, Equatable {
      var id: Int64
      var owner: Int64
      var note: String
      var weight: Double
      var lines: Int64
    }

    var position: String?
    var carts: [Row] = []
    /// The carts that stay because actions wait that name them.
    var kept: Set<Int64> = []
    /// Whether a row is missing that another one refers to, as in a torn page.
    var isTorn = false

    init(_ store: any RowStore, _ model: Model) throws {
      self = try store.read { try DeviceMoment($0, model) }
    }

    private init(_ reading: any RowReading, _ model: Model) throws {
      position = try reading.note(NoteName("sync", "position"))
      // Its first state is whole when the subscription is known.
      var isKnown = false
      try reading.notes(in: "sync.subscriptions", after: nil) { _, state in
        isKnown = state.hasPrefix("known ")
        return true
      }
      if !isKnown { position = nil }
      try reading.notes(in: "sync.lingering", after: nil) { name, _ in
        if name.hasPrefix("Cart\n"), let id = Int64(name.dropFirst(6)) { kept.insert(id) }
        return true
      }
      guard let cart = model.entity(named: "Cart"), let line = model.entity(named: "Line") else { return }
      var lines: Set<String> = []
      var listed: [String] = []
      try reading.rows(RowQuery(line)) { key, _ in
        if case .text(let id) = key { lines.insert(id) }
        return true
      }
      try reading.rows(RowQuery(cart)) { _, source in
        let list = try source.collection(0)
        for element in list { if case .text(let id) = element.last { listed.append(id) } }
        let row = Self.row((0..<5).map { source.value(at: $0) })
        if row.lines != Int64(list.count) { isTorn = true }
        carts.append(row)
        return true
      }
      if !Set(listed).isSubset(of: lines) { isTorn = true }
      carts.sort { $0.id < $1.id }
    }

    /// A cart by the values of its columns.
    static func row(_ values: [StoredValue]) -> Row {
      func integer(_ value: StoredValue) -> Int64 { if case .integer(let number) = value { number } else { -1 } }
      var row = Row(
        id: integer(values[0]), owner: integer(values[1]), note: "", weight: 0, lines: integer(values[4]))
      if case .text(let text) = values[2] { row.note = text }
      if case .real(let number) = values[3] { row.weight = number }
      return row
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
    var carts: [Cart]
    /// The carts that its screen has.
    var shown: [Cart]
    var pending: Int
    /// The texts of the refused actions that append.
    var refused: [String]
  }
#endif
