#if Server
  /// The moment of a device before another one, by which a checker judges rows that stay for actions only: these are as they were.
  struct KeptRows<Moment: Sendable>: Sendable {
    private var last: (moment: Moment, position: String?)?
    /// The subscriptions that the device has had since its last page, or was about to get: those that the next one is for are among them.
    private var asked: Set<String> = []
    /// Those among them that it was about to get.
    private var begun: Set<String> = []

    /// Goes on to the next moment.
    ///
    /// - Parameters:
    ///   - position: the position of the moment.
    ///   - subscriptions: the subscriptions of the moment.
    ///   - begun: those whose state is not in the file yet.
    /// - Returns: the moment before, and the subscriptions of the page that may have come between the two. One that leads to the same position brings
    ///   nothing but the state of a subscription that is new.
    mutating func next(
      _ moment: Moment, at position: String?, _ subscriptions: some Sequence<String>, begun: some Sequence<String>
    ) -> (before: Moment?, asked: Set<String>) {
      let isPage = position != last?.position
      let found = isPage ? asked : self.begun
      if isPage { (asked, self.begun) = ([], []) }
      self.begun.formUnion(begun)
      asked.formUnion(self.begun.union(subscriptions))
      defer { last = (moment, position) }
      return (last?.moment, found)
    }
  }
#endif
