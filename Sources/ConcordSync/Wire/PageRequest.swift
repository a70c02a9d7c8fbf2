import ConcordConnect

/// A request for the next page.
package struct PageRequest: Sendable {
  /// The version of the wire format.
  package static let version: Int64 = 1
  /// The number of awaited actions that a server looks for.
  package static let mostAwaited = 100

  package struct Subscription: Sendable, Hashable {
    package var name: String
    package var parameters: SyncParameters
    /// The condition of the state that the device has at the position, as the page said; `nil` if it has none.
    package var known: String?

    package init(name: String, parameters: SyncParameters, known: String?) {
      (self.name, self.parameters, self.known) = (name, parameters, known)
    }
  }

  package var device: String
  /// A name of the asking process, so that the waiting requests of two devices with one name, as those of a file and its copy, do not end each other;
  /// `nil` if the device does not say it.
  package var process: String?
  /// The position of the device; `nil` if it has none.
  package var position: String?
  /// The user whose rows the device has, as the last page said.
  package var user: String?
  /// The number of the device's actions in the pages so far.
  package var actions: Int64
  /// Further actions that were accepted and that no page has contained yet.
  package var awaited: [String]
  package var subscriptions: [Subscription]
  /// The time for which the server may wait until something is new, in seconds.
  package var wait: Double

  package init(
    device: String, process: String? = nil, position: String?, user: String?, actions: Int64, awaited: [String],
    subscriptions: [Subscription], wait: Double
  ) {
    (self.device, self.process, self.position, self.user, self.actions) = (device, process, position, user, actions)
    (self.awaited, self.subscriptions, self.wait) = (awaited, subscriptions, wait)
  }

  package var wire: WireValue {
    .object([
      "version": .integer(Self.version), "device": .text(device), "position": position.map { .text($0) } ?? .null,
      "process": process.map { .text($0) } ?? .null, "user": user.map { .text($0) } ?? .null,
      "actions": .integer(actions),
      "awaited": .array(awaited.map { .text($0) }), "wait": .double(wait),
      "subscriptions": .array(
        subscriptions.map {
          .object([
            "name": .text($0.name), "parameters": .object($0.parameters.mapValues(\.wire)),
            "known": $0.known.map { .text($0) } ?? .null,
          ])
        }),
    ])
  }

  /// - Throws: ``WireError``.
  package init(_ wire: WireValue) throws {
    device = try wire["device"].text("member 'device'")
    process = wire["process"].isNull ? nil : try wire["process"].text("member 'process'")
    position = wire["position"].isNull ? nil : try wire["position"].text("member 'position'")
    user = wire["user"].isNull ? nil : try wire["user"].text("member 'user'")
    actions = try wire["actions"].count("member 'actions'")
    awaited = try wire["awaited"].array("member 'awaited'").prefix(Self.mostAwaited).map {
      try $0.text("key in the member 'awaited'")
    }
    guard case .number(let text) = wire["wait"], let wait = Double(text), wait.isFinite, wait >= 0 else {
      throw WireError("a member 'wait' is no number of seconds")
    }
    self.wait = wait
    subscriptions = try wire["subscriptions"].array("member 'subscriptions'").map { subscription in
      let parameters = try subscription["parameters"].object("member 'parameters'")
      return Subscription(
        name: try subscription["name"].text("member 'name'"),
        parameters: try Dictionary(
          uniqueKeysWithValues: parameters.map { name, value in
            guard let parameter = try? SyncParameter(value) else {
              throw WireError("a parameter '\(name.prefix(100))' is none of a parameter's forms")
            }
            return (name, parameter)
          }),
        known: subscription["known"].isNull ? nil : try subscription["known"].text("member 'known'"))
    }
  }
}
