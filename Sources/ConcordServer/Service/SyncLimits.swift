#if Server
  /// The limits of what one request may ask of a server.
  public struct SyncLimits: Sendable {
    /// The maximum number of bytes in a request's body.
    public var requestSize = 1_048_576
    /// The maximum number of subscriptions of a device.
    public var subscriptions = 100
    /// The longest time that a request may wait for something new.
    public var wait: Duration = .seconds(30)
    /// The maximum number of devices that wait at a time.
    public var waitingDevices = 10_000
    /// The maximum number of requests that use the store at a time. Others wait for their turn.
    public var concurrentRequests = 8

    /// Creates the default limits.
    public init() {}
  }
#endif
