#if Server
  public import ConcordSync

  /// The limits of what one request, device and user may ask of a server.
  public struct SyncLimits: Sendable {
    /// The maximum number of bytes in a request's body.
    public var requestSize = 1_048_576
    /// The maximum number of bytes in the body of a request for a page, whose names and parameters are kept while it waits.
    public var pageRequestSize = 262_144
    /// The maximum number of subscriptions of a device.
    public var subscriptions = 100
    /// The longest time that a request may wait for something new.
    public var wait: Duration = .seconds(30)
    /// The maximum number of devices that wait at a time.
    public var waitingDevices = 10_000
    /// The maximum number of devices of one user that wait at a time.
    public var waitingDevicesOfUser = 100
    /// The maximum number of requests that use the store at a time. Further requests wait for their turn, and users take turns.
    public var concurrentRequests = 8
    /// The maximum number of requests of one user that use the store at a time, so that slow ones leave room for the requests of other users. The
    /// user's further requests wait.
    public var concurrentRequestsOfUser = 6
    /// The maximum number of requests in progress, with those that wait and those whose answers are not read yet. Further requests are answered with
    /// the status 503. An answer counts as read once its connection has taken it, which keeps 64 KiB beside what the system does; one of less than
    /// 4 KiB counts as read at once.
    public var requests = 20_000
    /// The maximum number of requests in progress of one user. Further requests are answered with the status 429.
    public var requestsOfUser = 200
    /// The number of bytes of pages for one user that are not read yet from which on requests for further pages are answered with the status 429.
    public var unreadBytesOfUser = 67_108_864
    /// The maximum number of devices of one user of whose actions the store keeps notes. Actions of further ones are answered with the status
    /// 429, and wait on the device.
    public var devicesOfUser = 1000
    /// The longest time that a client may take to send the body of a request. Then it is answered with the status 408.
    public var bodyTime: Duration = .seconds(60)
    /// The longest time that a client may take to read 64 KiB of an answer, or the whole of a shorter one. Then its connection is closed. Answers of
    /// less than 4 KiB have no such limit.
    public var readTime: Duration = .seconds(60)
    /// The number of requests that one user may send in a second, on the average. Further requests are answered with the
    /// status 429.
    public var requestsPerSecond = 100.0
    /// The number of requests that one user may send at once after a rest.
    public var burst = 1000
    /// The number of accepted actions of a device whose keys are kept although the device has got their effects, and of refused ones. A
    /// request that comes again later than that is refused, and not decided anew.
    public var actions = 1000
    /// The limits of the feed that the store keeps.
    public var feed = FeedLimits()
    /// The number of changes since a device's position that are looked through one by one; if there are more, each row of its subscriptions is asked
    /// about.
    var differences = 20_000
    /// Whether devices get positions that tell nothing. Positions that are not hidden tell how much all users write; a program that
    /// compares what devices show with what the server committed needs them.
    ///
    /// Hidden ones also contain the conditions of their pages. If they are not hidden, a client is believed which states it has, and a
    /// publication whose predicate looks at other rows is sent whole after each commit that may concern it.
    public var hidesPositions = true

    /// Creates the default limits.
    public init() {}
  }
#endif
