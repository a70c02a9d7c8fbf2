import ConcordConnect
import Foundation

/// A subscription, and its state in the file.
typealias NotedSubscription = (id: SubscriptionID, state: SubscriptionState)

/// The contents of the notes, read in one transaction.
struct DeviceState: Sendable {
  var device: String
  /// The position of the rows; `nil` if they are of none.
  var position: String?
  /// The types whose rows are not those of the position that is noted.
  var torn: Set<EntityDescription>
  /// Whether there is no position, or no mark that tells whether rows are those of it.
  var isUnmarked: Bool
  var user: String?
  var actions: Int64
  var refused: Int64
  /// The subscriptions, in the order of their texts.
  var subscriptions: [NotedSubscription]

  /// Reads the notes, and writes those that are missing.
  init(_ writing: any RowWriting, _ model: Model, fingerprint: String) throws {
    func note(_ head: SyncNotes.Head) throws -> String? { try writing.note(head.name) }
    if let device = try note(.device) {
      self.device = device
    } else {
      device = UUID().uuidString.lowercased()
      try writing.setNote(device, for: SyncNotes.Head.device.name)
    }
    position = try note(.position)
    let notes = RowNotes(writing, model)
    torn = try notes.torn()
    isUnmarked = try position == nil || notes.isUnmarked()
    // Columns that the model has got since are not in the file.
    if try !torn.isEmpty || isUnmarked || note(.model) != fingerprint { position = nil }
    user = try note(.user)
    actions = try note(.actions).flatMap(Int64.init) ?? 0
    refused = try note(.refused).flatMap(Int64.init) ?? 0
    subscriptions = try Self.subscriptions(writing)
  }

  /// Reads the notes of the subscriptions.
  static func subscriptions(_ writing: any RowWriting) throws -> [NotedSubscription] {
    var found: [NotedSubscription] = []
    var others: [(text: String, id: SubscriptionID, state: SubscriptionState)] = []
    try writing.notes(in: SyncNotes.subscriptions, after: nil) { text, note in
      guard let id = SubscriptionID(text: text) else { return true }
      if id.text.utf8.elementsEqual(text.utf8) {
        found.append((id, SubscriptionState(note: note)))
      } else {
        others.append((text, id, SubscriptionState(note: note)))
      }
      return true
    }
    if others.isEmpty { return found }
    for other in others { try carryOver(other.text, to: other.id, other.state, writing) }
    return try subscriptions(writing)
  }

  /// Carries over what an earlier release has noted under another text, as that of -0.0, for the same subscription.
  private static func carryOver(
    _ text: String, to id: SubscriptionID, _ state: SubscriptionState, _ writing: any RowWriting
  ) throws {
    // With the rows of both it has the state of neither, and gets all of it.
    let isOther = try writing.note(SyncNotes.subscription(id.text)) != nil
    try writing.setNote((isOther ? .beginning() : state).note, for: SyncNotes.subscription(id.text))
    var names: [String] = []
    try writing.notes(in: SyncNotes.roots(of: text), after: nil) { name, _ in
      names.append(name)
      return true
    }
    for name in names { try writing.setNote("", for: NoteName(SyncNotes.roots(of: id.text), name)) }
    try writing.clearNotes(in: SyncNotes.roots(of: text))
    try writing.setNote(nil, for: SyncNotes.subscription(text))
  }

  /// Returns the subscriptions that a request is for. What the device has comes first, so that it is not what is beyond the server's limit.
  ///
  /// - Parameter asksRefused: whether what the server has refused is asked for again.
  func asked(asksRefused: Bool) -> [NotedSubscription] {
    let known = subscriptions.filter { $0.state.isKnown }
    let others = subscriptions.filter { !$0.state.isKnown && (asksRefused || !$0.state.isRefused) }
    return known + others
  }

  /// Returns a request for pages.
  func request(
    for asked: [NotedSubscription], by process: String, awaited: [String], wait: Duration
  ) -> PageRequest {
    PageRequest(
      device: device, process: process, position: position, user: user, actions: actions, awaited: awaited,
      subscriptions: asked.map {
        .init(name: $0.id.name, parameters: $0.id.parameters, known: position == nil ? nil : $0.state.condition)
      }, wait: max(0, Double(wait.components.seconds) + Double(wait.components.attoseconds) * 1e-18))
  }
}
