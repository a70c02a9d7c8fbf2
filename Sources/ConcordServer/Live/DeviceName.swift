#if Server
  import ConcordSync

  /// A device of a user.
  struct DeviceName: Hashable, Sendable {
    let user: String
    let device: String

    init(_ user: String, _ request: PageRequest) { (self.user, device) = (user, request.device) }
    init(user: String, device: String) { (self.user, self.device) = (user, device) }
  }
#endif
