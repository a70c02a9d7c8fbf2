import ConcordConnect

/// The notes of synchronisation in the device's file, which are written in the transactions that they describe.
enum SyncNotes {
  /// The notes that concern all subscriptions.
  enum Head: String {
    /// The name of the device, which it gave itself.
    case device
    /// The position of the server's feed whose state the file has.
    case position
    /// The user whose rows the file has.
    case user
    /// The number of the device's actions that are in the pages so far.
    case actions
    /// The number of the device's actions that were refused, as the last page said.
    case refused
    /// The model as it was when the position was noted.
    case model

    var name: NoteName { NoteName("sync", rawValue) }
  }

  /// The subscriptions, by their identifiers; their values are ``SubscriptionState``.
  static let subscriptions = "sync.subscriptions"
  static func subscription(_ id: String) -> NoteName { NoteName(subscriptions, id) }

  /// The rows for which a subscription's predicate holds.
  static func roots(of id: String) -> String { "sync.roots \(id)" }

  /// The rows that the server sent. Those of the value ``ownValue`` were there before.
  static let rows = "sync.rows"
  static func row(_ key: EntityKey) -> NoteName { NoteName(rows, key.noteName) }
  static let ownValue = "own"

  /// Returns the name of the note of an action that is sent, by its key: a ``SendingState``.
  static func sending(_ key: String) -> NoteName { NoteName("sync.refusals", key) }

  /// The rows that no subscription has any longer, and that pending actions name.
  static let lingering = "sync.lingering"
}

/// The note of a subscription.
enum SubscriptionState: Hashable {
  /// Its state is not in the file yet.
  case new
  /// Its state at the position is in the file, by a condition that the server has named.
  case known(condition: String)
  /// The server does not serve it.
  case refused(String)

  var isKnown: Bool { condition != nil }
  var condition: String? { if case .known(let condition) = self { condition } else { nil } }
  var isRefused: Bool { if case .refused = self { true } else { false } }

  var note: String {
    switch self {
    case .new: "new"
    case .known(let condition): "known \(condition)"
    case .refused(let reason): "refused \(reason)"
    }
  }

  init(note: String) {
    if note.hasPrefix("known ") {
      self = .known(condition: String(note.dropFirst(6)))
    } else if note.hasPrefix("refused ") {
      self = .refused(String(note.dropFirst(8)))
    } else {
      self = .new
    }
  }
}

/// The note of an action that is sent.
struct SendingState {
  /// The number of refusals that the device has received.
  var refusals: Int64 = 0
  /// The number of the device's actions in the pages up to when it was first sent; `nil` if it was not.
  var since: Int64?
  /// The number of the device's refused actions, as the last page before that said.
  var sinceRefused: Int64 = 0

  var note: String { since.map { "\(refusals) \($0) \(sinceRefused)" } ?? "\(refusals)" }
}

extension SendingState {
  init(note: String?) {
    let parts = note?.split(separator: " ").map { Int64($0) } ?? []
    func number(_ index: Int) -> Int64? { parts.indices.contains(index) ? parts[index] : nil }
    self.init(refusals: number(0) ?? 0, since: number(1), sinceRefused: number(2) ?? 0)
  }
}

/// The name and the parameters of a subscription, in the form of all equal ones: these are one subscription.
struct SubscriptionID: Hashable, Sendable {
  let name: String
  let parameters: SyncParameters
  /// The text by which it is noted.
  let text: String

  init(name: String, parameters: SyncParameters) {
    self.name = name.canonicallyComposed
    self.parameters = Dictionary(parameters.map { ($0.canonicallyComposed, $1.canonical) }) { $1 }
    text = WireValue.array([.text(self.name), .object(self.parameters.mapValues(\.wire))]).json
  }

  // By the bytes, as notes are.
  static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
  func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }

  /// Reads a text. That of the result may be another one, for the same subscription.
  init?(text: String) {
    guard let parts = try? WireValue(parsing: text.utf8).array(), parts.count == 2, let name = try? parts[0].text(),
      let parameters = try? parts[1].object().mapValues(SyncParameter.init)
    else { return nil }
    self.init(name: name, parameters: parameters)
  }
}
