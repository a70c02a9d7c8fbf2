import ConcordConnect
import Foundation

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
    /// Whether the types are marked of which there are rows of the position; see ``RowNotes``.
    case marks

    var name: NoteName { NoteName("sync", rawValue) }
  }

  /// The subscriptions, by their identifiers; their values are ``SubscriptionState``.
  static let subscriptions = "sync.subscriptions"
  static func subscription(_ id: String) -> NoteName { NoteName(subscriptions, id) }

  /// The rows for which a subscription's predicate holds.
  static func roots(of id: String) -> String { "sync.roots \(id)" }

  /// The rows that the server sent, in the stores of the rows. Those of the value ``ownValue`` were there before.
  static let rows = "sync.rows"
  static func row(_ key: EntityKey) -> NoteName { NoteName(rows, key.noteName) }
  static let ownValue = "own"

  /// The actions that are sent, by their keys; their values are ``SendingState``.
  static let sending = "sync.refusals"
  static func sending(_ key: String) -> NoteName { NoteName(sending, key) }

  /// The keys of those of which no file had an action when the program last began, since its file may not have been attached, with the date at which that
  /// was first so, in seconds since 1970.
  static let missed = "sync.missed"
  static func missed(_ key: String) -> NoteName { NoteName(missed, key) }

  /// The marks of the rows that the server sent, beside the position, by the names of the entities: see ``RowNotes``.
  static let marks = "sync.marks"
  static func mark(_ entity: EntityDescription) -> NoteName { NoteName(marks, entity.name) }
  /// The mark beside the position of rows whose store was detached while other rows changed: none in a store is equal to it.
  static let detached = "detached"
  /// The marks in the stores of the rows.
  static func held(_ entity: EntityDescription) -> NoteName { .rowsMark(entity) }

  /// The rows that no subscription has any longer, and that pending actions name.
  static let lingering = "sync.lingering"
}

/// The note of a subscription.
enum SubscriptionState: Hashable {
  /// The state of the subscription is not in the file yet. The mark is another one each time that it begins, so that a page for an earlier beginning,
  /// perhaps of another user, is told apart.
  case new(mark: String, wasRefused: Bool)
  /// The state of the subscription at the position is in the file, by a condition that the server has named.
  case known(condition: String)
  /// The server does not serve the subscription.
  case refused(String)

  var isKnown: Bool { condition != nil }
  var condition: String? { if case .known(let condition) = self { condition } else { nil } }
  var isNew: Bool { if case .new = self { true } else { false } }
  var isRefused: Bool { if case .refused = self { true } else { false } }
  /// Whether the last answer about the subscription was a refusal.
  var wasRefused: Bool { if case .new(_, let wasRefused) = self { wasRefused } else { isRefused } }

  /// Returns the state of a subscription that begins, or begins anew after a refusal.
  static func beginning(wasRefused: Bool = false) -> Self {
    .new(mark: UUID().uuidString.lowercased(), wasRefused: wasRefused)
  }

  var note: String {
    switch self {
    case .new(let mark, let wasRefused): "new \(mark)\(wasRefused ? " refused" : "")"
    case .known(let condition): "known \(condition)"
    case .refused(let reason): "refused \(reason)"
    }
  }

  init(note: String) {
    let parts = note.splitAtSpaces(maxSplits: 1)
    let rest = parts.count > 1 ? parts[1] : ""
    switch parts[0] {
    case "known" where parts.count > 1: self = .known(condition: rest)
    case "refused" where parts.count > 1: self = .refused(rest)
    default:
      // Earlier releases have noted no mark.
      let words = rest.splitAtSpaces(maxSplits: 1)
      self = .new(mark: words[0], wasRefused: words.count > 1)
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
  /// The user whose actions these are, as that page said; `nil` if there was none.
  var user: String?
  /// Whether the server has accepted the action for that user, who is no longer the device's.
  var isAccepted = false
  /// Whether the action may have been sent from a copy of the file, and accepted so long ago that the server has forgotten it.
  var mayBeForgotten = false

  /// Whether there is nothing to be noted.
  var isEmpty: Bool { refusals == 0 && since == nil }

  var note: String {
    guard let since else { return "\(refusals)" }
    // An earlier release reads 0 refusals where a word follows the number.
    let words = (isAccepted ? Self.accepted : "") + (mayBeForgotten ? Self.forgotten : "")
    return "\(refusals)\(words) \(since) \(sinceRefused)" + (user.map { " \($0)" } ?? "")
  }

  fileprivate static let (accepted, forgotten) = ("+accepted", "+forgotten")
}

extension SendingState {
  init(note: String?) {
    var parts = note?.splitAtSpaces(maxSplits: 3) ?? []
    let words = parts.first.map { first in first.drop { $0 != "+" } } ?? ""
    if !words.isEmpty { parts[0].removeLast(words.count) }
    // What another program has written there is no number.
    func number(_ index: Int) -> Int64? {
      parts.indices.contains(index) ? Int64(parts[index]).map { min(max(0, $0), 1 << 53) } : nil
    }
    self.init(
      refusals: number(0) ?? 0, since: number(1), sinceRefused: number(2) ?? 0,
      user: parts.count > 3 ? parts[3] : nil, isAccepted: words.contains(Self.accepted),
      mayBeForgotten: words.contains(Self.forgotten))
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
