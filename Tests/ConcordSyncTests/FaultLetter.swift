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

    init(_ letter: DeadLetter) {
      self.init(key: letter.key.rawValue, action: letter.action.flatMap { FaultAction($0) }, reason: letter.reason)
    }
  }
#endif
