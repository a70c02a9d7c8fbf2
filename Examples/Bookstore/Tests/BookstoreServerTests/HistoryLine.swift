import BookstoreShared
import Foundation
import Testing

/// A line of the file that `serve --history` writes.
struct HistoryLine: Decodable {
  var from: String?
  var to: String
  var rows: [RowRecord]
  var accepted: [String: [String]]

  static func all(in file: URL) throws -> [HistoryLine] { try lines(of: Data(contentsOf: file)) }
}

/// A line that `device --states` prints.
struct DeviceLine: Decodable {
  var queued: String?
  var action: String?
  var decided: String?
  var isAccepted: Bool?
  var reason: String?
  var position: String?
  var pending: [String]?
  var digest: String?
  var rows: [RowRecord]?
}

/// Reads lines of JSON. The last one of a process that was killed may not be whole.
func lines<T: Decodable>(of data: Data) throws -> [T] {
  try data.prefix(upTo: data.lastIndex(of: 0x0A) ?? data.startIndex).split(separator: 0x0A)
    .map { try JSONDecoder().decode(T.self, from: $0) }
}

/// What the server has committed, by the positions of its feed.
struct CommittedStates {
  struct State {
    var rows: [String: RowRecord] = [:]
    /// The keys of the actions whose effects it has, when it began, and as long as it lasted: an action without effect moves no position.
    var accepted: Set<String> = []
    var acceptedAtLast: Set<String> = []
    var number = 0
  }

  private(set) var states: [String: State] = [:]
  private(set) var last = State()
  /// What is wrong with the history itself.
  private(set) var violations: [String] = []

  init(_ history: [HistoryLine]) {
    var state = State()
    var position: String?
    for line in history {
      if let from = line.from, let position, Self.name(from) != position {
        violations.append("\(line.to) follows \(from), not \(position)")
      }
      if line.from == nil { state.rows = [:] }
      for row in line.rows { state.rows[Self.name(row)] = row.row == nil ? nil : row }
      for key in line.accepted.values.joined() where !state.acceptedAtLast.insert(key).inserted {
        violations.append("\(key) was applied twice")
      }
      let name = Self.name(line.to)
      if name != position { (state.accepted, state.number) = (state.acceptedAtLast, state.number + 1) }
      position = name
      states[name] = state
    }
    last = state
  }

  /// A position without what the feed keeps besides.
  static func name(_ position: String) -> String {
    let parts = position.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 3 ? "\(parts[0]).\(parts[2])" : position
  }

  static func name(_ row: RowRecord) -> String { "\(row.entity) \(row.id)" }

  /// The rows of a state that concern a customer: all but the carts of others.
  static func rows(of state: State, for customer: String) -> [RowRecord] {
    state.rows.values.filter { row in
      guard case .text(let id) = row.id else { return false }
      switch row.entity {
      case "Cart": return id == customer
      case "CartLine": return id.hasPrefix(customer + "/")
      default: return true
      }
    }
  }

  /// - Returns: the violations of the law in what a device of a customer has said, in all of its processes.
  func violations(of device: [DeviceLine], customer: String) -> [String] {
    var found = violations
    var number = 0
    var decided: [String: Bool] = [:]
    // A refusal is said again when the device is started again, and may be later than the state without the layer.
    let refused = Set(device.compactMap { $0.isAccepted == false ? $0.decided : nil })
    let order = Dictionary(device.compactMap(\.queued).enumerated().map { ($1, $0) }) { first, _ in first }
    var waiting: [String] = []
    for line in device {
      if let key = line.decided, let isAccepted = line.isAccepted {
        if let earlier = decided.updateValue(isAccepted, forKey: key), earlier != isAccepted {
          found.append("\(key) was decided twice")
        }
        if last.acceptedAtLast.contains(key) != isAccepted { found.append("\(key) was decided otherwise") }
      }
      guard let position = line.position else { continue }
      guard let state = states[Self.name(position)] else {
        found.append("no commit ends at \(position)")
        continue
      }
      if state.number < number { found.append("a step back to \(position)") }
      number = state.number
      let wanted = Self.rows(of: state, for: customer)
      if let rows = line.rows {
        let differing = Set(rows).symmetricDifference(wanted).map { "\($0.entity) \($0.id)" }
        if !differing.isEmpty { found.append("\(Set(differing).sorted().prefix(5)) differ at \(position)") }
        if RowRecord.digest(rows) != line.digest { found.append("the digest is that of other rows at \(position)") }
      }
      if RowRecord.digest(wanted) != line.digest { found.append("it shows something else at \(position)") }
      let twice = state.accepted.intersection(line.pending ?? [])
      if !twice.isEmpty { found.append("\(twice) are there, and their layers, too, at \(position)") }
      let pending = line.pending ?? []
      let gone = Set(waiting).subtracting(pending).subtracting(state.acceptedAtLast).subtracting(refused)
      if !gone.isEmpty { found.append("the layers of \(gone) are gone, and they are not there, at \(position)") }
      // In the order in which they were queued. A process that was killed may not have said that of one.
      let places = pending.compactMap { order[$0] }
      if places != places.sorted() || waiting.filter(pending.contains) != pending.filter(waiting.contains) {
        found.append("\(pending) are pending in another order at \(position)")
      }
      waiting = pending
    }
    for key in device.compactMap(\.queued) where !last.acceptedAtLast.contains(key) && decided[key] != false {
      found.append("\(key) has no effect")
    }
    return found
  }
}
