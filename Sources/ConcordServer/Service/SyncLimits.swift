#if Server
  public import ConcordSync

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
    /// The maximum number of devices of one user that wait at a time.
    public var waitingDevicesOfUser = 100
    /// The maximum number of requests that use the store at a time. Others wait for their turn.
    public var concurrentRequests = 8
    /// The number of requests that one user may send in a second, on the average. Others are answered with the
    /// status 429.
    public var requestsPerSecond = 100.0
    /// The number of requests that one user may send at once after a rest.
    public var burst = 1000
    /// What the feed of the store keeps.
    public var feed = FeedLimits()
    /// Whether devices get positions that tell nothing. Positions that are not hidden tell how much all users write; a program that
    /// compares what devices show with what the server committed needs them.
    public var hidesPositions = true

    /// Creates the default limits.
    public init() {}
  }
#endif
