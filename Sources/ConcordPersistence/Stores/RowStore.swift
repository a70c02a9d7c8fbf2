public import ConcordModel

/// A store of rows. Each type of store conforms to it; contexts, strategies and queries know only this protocol.
///
/// Every operation may fail, and may take long. Errors are ``/ConcordModel/StoreError``s.
public protocol RowStore: AnyObject, Sendable {
  /// The name of the store in errors.
  var name: String { get }

  /// Reads one committed state, which does not change meanwhile.
  ///
  /// A store that loses its connection runs the closure again if it has read nothing yet, or has said that it may be: see
  /// ``RowReading/mayReadAgain()``. A coordinator that reads several stores runs it again only if it has said so. A reading within another
  /// one of the same store reads with that, and what it says of itself does not count for that.
  ///
  /// - Parameter body: a closure that reads, on the thread of the caller. The reading is valid during the call only.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws; ``/ConcordModel/StoreError`` if the store cannot be read.
  func read<R>(_ body: (any RowReading) throws -> R) throws -> R

  /// Runs a closure that writes, as one transaction: all of its writes take effect, or none if it throws. Readers never see a
  /// part, and each writer sees what those before it have written.
  ///
  /// A store may run the closure again if its first attempt had no effect, as one that other processes write to at the same
  /// time. It must depend on nothing but what it reads from the session, and what it changes elsewhere has to be right however
  /// often it runs: it sets variables anew instead of adding to them.
  ///
  /// - Parameters:
  ///   - origin: an identifier of the writer, which observers are told; `nil` if none of them needs it.
  ///   - body: a closure that reads and writes, on the thread of the caller. The writing is valid during the call only.
  /// - Returns: what the closure returns, once the transaction is committed.
  /// - Throws: what the closure throws; ``/ConcordModel/StoreError`` if the store cannot be written. Then nothing is written.
  func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R

  /// Calls a closure after each commit, once, with its changes, until the result is released. Commits of other processes have no origin.
  ///
  /// What is read from then on shows the commit, and all that were told before. Those of one thread are told in their order. A store that
  /// processes on other machines write to may find several commits of theirs at once, and then tells them in any order, and a commit of its own
  /// before them.
  ///
  /// - Parameter body: a closure that receives each commit, one call at a time, on any thread.
  /// - Returns: an observation, which ends when it is released.
  func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation

  /// Calls a closure after each commit except for those of one origin. A store can save faster if it wakes no observer
  /// for these.
  ///
  /// - Parameters:
  ///   - origin: the origin whose commits are left out, as passed to ``write(origin:_:)``.
  ///   - body: a closure that receives each other commit, one call at a time, on any thread.
  /// - Returns: an observation, which ends when it is released.
  func observeCommits(
    except origin: ObjectIdentifier, _ body: @escaping @Sendable (StoreCommit) -> Void
  ) -> StoreObservation

  /// The number of times that commits with unknown changes were noticed, such as those of other processes. After a read has
  /// begun, it includes all commits that are visible to that read. Observers are told of these commits, too.
  ///
  /// The default is 0, for stores without other writers.
  var unknownCommits: Int { get }

  /// Whether the store can be asked at all at this moment, whatever the answer: a database beyond a network may not be.
  ///
  /// The default is `true`, for stores that are here.
  var isReachable: Bool { get }

  /// Returns when observers have been called for all commits so far.
  func settle()

  /// Makes all commits so far survive a failure of the system's power, too, as far as the type of store can.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the file cannot be synchronised.
  func synchronize() throws

  /// Acquires the exclusive right to send the actions of the outbox.
  ///
  /// - Returns: `nil` while another process has it, or another store with the same file. It becomes available when that
  ///   process ends, however it does.
  /// - Throws: ``/ConcordModel/StoreError`` if the right cannot be asked for, as where a database is out of reach.
  func holdOutbox() throws -> OutboxHold?

  /// Begins to note which rows change, so that ``RowReading/changes(since:of:limit:)`` can tell them. It goes on when the store is opened again.
  ///
  /// - Parameter limits: the numbers of changes and of rows that the feed keeps.
  /// - Throws: ``/ConcordModel/StoreError/storeFailed(store:reason:)`` if the type of store keeps no feed, which is the default.
  func startFeed(_ limits: FeedLimits) throws

  /// Forgets some of the changes that the limits of the feed no longer keep. Whoever follows the feed calls it now and then.
  ///
  /// - Returns: whether there are more to forget.
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be written.
  func trimFeed() throws -> Bool

  /// Gives the space of removed rows back to the system, as far as that is worth it.
  ///
  /// The default does nothing.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be written.
  func giveBackSpace() throws

  /// Closes the store. Later calls throw ``/ConcordModel/StoreError/detached(store:)``.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the file or the connection cannot be closed in order.
  func close() throws
}

extension RowStore {
  public func observeCommits(
    except origin: ObjectIdentifier, _ body: @escaping @Sendable (StoreCommit) -> Void
  ) -> StoreObservation {
    observeCommits { commit in if commit.origin != origin { body(commit) } }
  }

  public var unknownCommits: Int { 0 }

  public var isReachable: Bool { true }

  public func holdOutbox() throws -> OutboxHold? { OutboxHold {} }

  public func startFeed(_ limits: FeedLimits) throws {
    throw StoreError.storeFailed(store: name, reason: "it keeps no feed of changes")
  }

  /// Starts the feed with the default limits.
  ///
  /// - Throws: as ``startFeed(_:)``.
  public func startFeed() throws { try startFeed(FeedLimits()) }

  public func trimFeed() throws -> Bool { false }

  public func giveBackSpace() throws {}

  public func synchronize() throws {}
}

/// The changes of one commit.
public struct StoreCommit: Sendable {
  /// The entities whose rows were inserted, changed or removed; `nil` if they are not known, as after a write of another
  /// process.
  public var keys: Set<EntityKey>? { changed.map { Set($0) } }
  // Made a set on demand, since the writer would have to wait for it.
  private let changed: [EntityKey]?
  /// The writer, as passed to ``RowStore/write(origin:_:)``.
  public let origin: ObjectIdentifier?

  /// Creates a commit's changes. The keys are in any order, with repetitions.
  public init(keys: [EntityKey]?, origin: ObjectIdentifier?) {
    changed = keys
    self.origin = origin
  }
}
