import ConcordConnect
import Foundation

/// What the notes say, read in one transaction.
struct DeviceState: Sendable {
  var device: String
  var position: String?
  var user: String?
  var actions: Int64
  var refused: Int64
  /// The subscriptions, in the order of their texts.
  var subscriptions: [(id: SubscriptionID, state: SubscriptionState)]

  /// Reads the notes, and writes those that are missing.
  init(_ writing: any RowWriting, fingerprint: String) throws {
    func note(_ head: SyncNotes.Head) throws -> String? { try writing.note(head.name) }
    if let device = try note(.device) {
      self.device = device
    } else {
      device = UUID().uuidString.lowercased()
      try writing.setNote(device, for: SyncNotes.Head.device.name)
    }
    position = try note(.position)
    // Columns that the model has got since are not in the file.
    if try note(.model) != fingerprint { position = nil }
    user = try note(.user)
    actions = try note(.actions).flatMap(Int64.init) ?? 0
    refused = try note(.refused).flatMap(Int64.init) ?? 0
    subscriptions = try Self.subscriptions(writing)
  }

  static func subscriptions(_ reading: any RowReading) throws -> [(id: SubscriptionID, state: SubscriptionState)] {
    var found: [(id: SubscriptionID, state: SubscriptionState)] = []
    try reading.notes(in: SyncNotes.subscriptions, after: nil) { text, note in
      if let id = SubscriptionID(text: text) { found.append((id, SubscriptionState(note: note))) }
      return true
    }
    return found
  }

  /// What the device has comes first, so that it is not what is beyond the server's limit.
  ///
  /// - Parameter asksRefused: whether what the server has refused is asked for again.
  func request(awaited: [String], wait: Duration, asksRefused: Bool) -> PageRequest {
    let known = subscriptions.filter { $0.state.isKnown }
    let others = subscriptions.filter { !$0.state.isKnown && (asksRefused || !$0.state.isRefused) }
    return PageRequest(
      device: device, position: position, user: user, actions: actions, awaited: awaited,
      subscriptions: (known + others).map {
        .init(name: $0.id.name, parameters: $0.id.parameters, known: position == nil ? nil : $0.state.condition)
      }, wait: Double(wait.components.seconds) + Double(wait.components.attoseconds) * 1e-18)
  }
}
