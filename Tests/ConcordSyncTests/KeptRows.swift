#if Server
  /// The moment of a device before another one, by which a checker judges rows that stay for actions only: these are as they were.
  struct KeptRows<Moment: Sendable>: Sendable {
    private var last: (moment: Moment, position: String?)?
    /// The subscriptions that the device has had since its last page, or was about to get: those that the next one is for are among them.
    private var asked: Set<String> = []

    /// Goes on to the next moment.
    ///
    /// - Parameters:
    ///   - position: the position of the moment.
    ///   - subscriptions: the subscriptions of the moment, also those whose state is not in the file yet.
    /// - Returns: the moment before, and the subscriptions of the page that may have come between the two: also without another position, since one
    ///   for a subscription that is new may be of the same state.
    mutating func next(
      _ moment: Moment, at position: String?, _ subscriptions: Set<String>
    ) -> (before: Moment?, asked: Set<String>) {
      let isPage = position != last?.position
      defer {
        asked = isPage ? subscriptions : asked.union(subscriptions)
        last = (moment, position)
      }
      return (last?.moment, asked)
    }
  }
#endif
