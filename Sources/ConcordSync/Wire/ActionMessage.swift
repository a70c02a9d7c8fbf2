import ConcordConnect

/// An action on its way to the server.
package struct ActionMessage: Sendable {
  package var device: String
  package var key: String
  package var name: String
  package var body: WireValue
  /// The number of refusals of the action that the device knows: it asks for a further decision.
  package var refusals: Int64
  /// The number of the device's actions in the pages up to when the action was first sent. What the server has forgotten since then may be
  /// this action.
  package var since: Int64
  /// The number of the device's actions that were refused.
  package var sinceRefused: Int64
  /// The user whose actions these are, as the last page before said; `nil` if there was none, or if the device does not say it.
  package var user: String?

  package init(
    device: String, key: String, name: String, body: WireValue, refusals: Int64, since: Int64, sinceRefused: Int64 = 0,
    user: String? = nil
  ) {
    (self.device, self.key, self.name, self.body) = (device, key, name, body)
    (self.refusals, self.since, self.sinceRefused, self.user) = (refusals, since, sinceRefused, user)
  }

  package var wire: WireValue {
    .object([
      "version": .integer(PageRequest.version), "device": .text(device), "key": .text(key), "name": .text(name),
      "action": body, "refusals": .integer(refusals), "since": .integer(since), "sinceRefused": .integer(sinceRefused),
      "user": user.map { .text($0) } ?? .null,
    ])
  }

  /// Reads the JSON of an action, which is nested in that of its message.
  ///
  /// - Throws: ``WireError``.
  package static func body(_ bytes: some Collection<UInt8>) throws -> WireValue { try WireValue(parsing: bytes, at: 1) }

  package init(_ wire: WireValue) throws {
    device = try wire["device"].text("member 'device'")
    key = try wire["key"].text("member 'key'")
    name = try wire["name"].text("member 'name'")
    body = wire["action"]
    refusals = try wire["refusals"].count("member 'refusals'")
    since = wire["since"].isNull ? 0 : try wire["since"].count("member 'since'")
    sinceRefused = wire["sinceRefused"].isNull ? 0 : try wire["sinceRefused"].count("member 'sinceRefused'")
    user = wire["user"].isNull ? nil : try wire["user"].text("member 'user'")
    guard refusals <= 1_000_000 else { throw WireError("a member 'refusals' is more than anybody has received") }
  }
}

/// The server's decision on an action.
package enum ActionDecision: Sendable, Hashable {
  case accepted
  case refused(reason: String)

  package var wire: WireValue {
    switch self {
    case .accepted: .object(["state": .text("accepted")])
    case .refused(let reason): .object(["state": .text("refused"), "reason": .text(reason)])
    }
  }

  package init(_ wire: WireValue) throws {
    switch try wire["state"].text("state") {
    case "accepted": self = .accepted
    case "refused": self = .refused(reason: try wire["reason"].text("reason"))
    default: throw WireError("an unknown state")
    }
  }
}
