#if Server
  import ConcordServer

  /// A dead letter of a device.
  struct FaultLetter: Codable, Hashable {
    var key: String
    /// The action; `nil` if it is none of the fault test's.
    var action: FaultAction?
    var reason: String

    init(key: String, action: FaultAction?, reason: String) {
      (self.key, self.action, self.reason) = (key, action, reason)
    }

    /// Whether a device has given up an action for a reason because it was sent for an earlier user of the device.
    static func isUndecided(_ reason: String) -> Bool { reason.hasPrefix("it was sent for another user") }
    var isUndecided: Bool { Self.isUndecided(reason) }
    /// Whether a device knows that a server has accepted it for an earlier user of the device.
    var isAccepted: Bool { reason == "it was sent for another user, for whom the server has accepted it" }

    init(_ letter: DeadLetter) {
      self.init(key: letter.key.rawValue, action: letter.action.flatMap { FaultAction($0) }, reason: letter.reason)
    }
  }
#endif
