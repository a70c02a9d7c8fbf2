#if Server
  import Concord
  import ConcordServer
  import Foundation

  /// The rows of a store.
  typealias Rows = [EntityKey: StoredRow]

  /// What a server has committed: its state at each position of its feed, and the actions whose effects that contains.
  final class History: Sendable {
    struct State: Sendable {
      var rows: Rows
      /// The actions whose effects each state at the position contains.
      var accepted: Set<String>
      /// The same at the end: an action without effect moves no position.
      var acceptedAtLast: Set<String>
    }

    let model = Kept<Model?>(nil)
    private let states = Kept<[String: State]>([:])

    func record(_ session: any RowReading) throws {
      guard let model = model.withLock({ $0 }), let position = try? session.position() else { return }
      var accepted: Set<String> = []
      for user in 1...3 {
        try session.notes(in: "sync.decisions \(user)", after: nil) { key, note in
          if note == "accepted" { accepted.insert(key) }
          return true
        }
      }
      let state = State(rows: try rows(session, model), accepted: accepted, acceptedAtLast: accepted)
      let name = Self.name(of: position.rawValue)
      states.withLock { states in
        if states[name]?.rows == state.rows {
          states[name]?.acceptedAtLast = accepted
        } else {
          states[name] = state
        }
      }
    }

    /// What differs between the positions of commits that follow each other: the feed, and the number.
    private static func name(of position: String) -> String {
      let parts = position.split(separator: ".", omittingEmptySubsequences: false)
      return parts.count == 3 ? "\(parts[0]).\(parts[2])" : position
    }

    func state(at position: String) -> State? { states.withLock { $0[Self.name(of: position)] } }
    var count: Int { states.withLock { $0.count } }
  }

  func rows(_ reading: any RowReading, _ model: Model) throws -> Rows { try rows(reading, of: model.entities) }

  func rows(_ reading: any RowReading, of entities: [EntityDescription]) throws -> Rows {
    var rows: Rows = [:]
    for entity in entities {
      try reading.rows(RowQuery(entity)) { id, source in
        rows[EntityKey(entity, id)] = StoredRow(
          values: entity.columns.indices.map { source.value(at: $0) },
          collections: try entity.collections.indices.map { try source.collection($0) }, stamp: source.stamp)
        return true
      }
    }
    return rows
  }

  /// A store that records each of its commits, before others can see it.
  final class RecordingStore: RowStore {
    private let store: any RowStore
    private let history: History
    /// The position is known after a commit only, but for a file.
    private let lock: NSRecursiveLock?

    init(_ store: any RowStore, _ kind: Kind, _ history: History) {
      (self.store, self.history) = (store, history)
      lock = kind == .sqlite ? nil : NSRecursiveLock()
    }

    var name: String { store.name }
    func read<R>(_ body: (any RowReading) throws -> R) throws -> R {
      lock?.lock()
      defer { lock?.unlock() }
      return try store.read(body)
    }
    func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
      lock?.lock()
      defer { lock?.unlock() }
      let result = try store.write(origin: origin) { session in
        let result = try body(session)
        if lock == nil { try history.record(session) }
        return result
      }
      if lock != nil { try store.read { try history.record($0) } }
      return result
    }
    func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation {
      store.observeCommits(body)
    }
    var unknownCommits: Int { store.unknownCommits }
    func settle() { store.settle() }
    func synchronize() throws { try store.synchronize() }
    func holdOutbox() throws -> OutboxHold? { try store.holdOutbox() }
    func trimFeed() throws -> Bool { try store.trimFeed() }
    func startFeed(_ limits: FeedLimits) throws {
      try store.startFeed(limits)
      try store.read { try history.record($0) }
    }
    func close() throws { try store.close() }
  }
#endif
