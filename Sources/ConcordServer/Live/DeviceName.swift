#if Server
  import ConcordSync

  /// A device of a user.
  struct DeviceName: Hashable, Sendable {
    let user: String
    let device: String

    init(_ user: String, _ request: PageRequest) { (self.user, device) = (user, request.device) }
    init(user: String, device: String) { (self.user, self.device) = (user, device) }
  }

  /// A place where one request of a device waits: that of one of its processes, or of a copy of its file.
  struct WaitingPlace: Hashable, Sendable {
    let device: DeviceName
    let process: String?

    init(_ device: DeviceName, process: String? = nil) { (self.device, self.process) = (device, process) }
  }
#endif
