import Concord
import ConcordConnect
import Foundation
import GRDB

extension Row {
  /// What forwarded actions cost: to be kept and shown, and to be sent and stored.
  static var outbox: [Row] { [forward, forwardBesideBlocking, drain, drainBesideBlocking, drainOneEntity] }

  private static let count = 10_000
  /// Forwarding is asynchronous, and so goes to another thread and back; what GRDB takes for that is part of the floor.
  private static let floor = "as many transactions of GRDB's, each with one upsert, prepared once, and awaited"
  private static let blockingFloor = "as many transactions of GRDB's, each with one upsert, prepared once"

  private static var forward: Row {
    Row("forward 10,000 actions, each of another entity, each", goal: .floor(times: 3), floor: floor, repetitions: 3) {
      stopwatch in
      let stopwatch = stopwatch.acrossThreads
      return Sides {
        try forwarded(count, stopwatch)
      } floor: {
        try awaitedTransactions(count, stopwatch)
      }
    }
  }

  private static var forwardBesideBlocking: Row {
    Row(
      "the same, beside transactions that block their thread", goal: .none, floor: blockingFloor, repetitions: 3
    ) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      return Sides {
        try forwarded(count, stopwatch)
      } floor: {
        try transactions(count, stopwatch)
      }
    }
  }

  private static var drain: Row {
    Row("drain them, each", goal: .floor(times: 3), floor: floor, repetitions: 3) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      return Sides {
        try drained(count, entities: count, stopwatch)
      } floor: {
        try awaitedTransactions(count, stopwatch)
      }
    }
  }

  private static var drainBesideBlocking: Row {
    Row(
      "the same, beside transactions that block their thread", goal: .none, floor: blockingFloor, repetitions: 3
    ) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      return Sides {
        try drained(count, entities: count, stopwatch)
      } floor: {
        try transactions(count, stopwatch)
      }
    }
  }

  private static var drainOneEntity: Row {
    Row(
      "drain 10,000 actions of one entity, each", goal: .floor(times: 1.5), floor: "the same with 1,000 actions",
      repetitions: 3
    ) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      return Sides {
        try drained(count, entities: 1, stopwatch)
      } floor: {
        try drained(count / 10, entities: 1, stopwatch)
      }
    }
  }

  /// What it takes to forward so many actions, each of another entity.
  private static func forwarded(_ count: Int, _ stopwatch: Stopwatch) throws -> Double {
    let outbox = try OutboxFile(count)
    let time = try stopwatch.nanoseconds(per: count) { try outbox.forward(count, entities: count) }
    try expect(outbox.connect.outbox.pending.count, is: count, "pending actions")
    try outbox.end()
    return time
  }

  /// What it takes to send so many actions, and to store what they change.
  private static func drained(_ count: Int, entities: Int, _ stopwatch: Stopwatch) throws -> Double {
    let outbox = try OutboxFile(entities)
    try outbox.forward(count, entities: entities)
    let time = try stopwatch.nanoseconds(per: count) { try outbox.drain() }
    try expect(try outbox.raised(), is: count, "what is stored")
    try outbox.end()
    return time
  }

  private static func transactions(_ count: Int, _ stopwatch: Stopwatch) throws -> Double {
    let file = try VolumeFile(0)
    let pool = try file.pool()
    return try stopwatch.nanoseconds(per: count) {
      for id in 0..<count {
        try pool.write { try RawVolume.write(Volume(id: id), with: $0.cachedStatement(sql: RawVolume.upsert)) }
      }
    }
  }

  private static func awaitedTransactions(_ count: Int, _ stopwatch: Stopwatch) throws -> Double {
    let file = try VolumeFile(0)
    let pool = try file.pool()
    return try stopwatch.nanoseconds(per: count) {
      try blocking {
        for id in 0..<count {
          try await pool.write { try RawVolume.write(Volume(id: id), with: $0.cachedStatement(sql: RawVolume.upsert)) }
        }
      }
    }
  }
}

/// A file with volumes, and a connect with an outbox whose service accepts all.
private final class OutboxFile {
  let connect: GenericConnect<ContextStrategy.Mixed>
  private let folder = FileManager.default.temporaryDirectory.appending(path: "concord-benchmark-\(UUID().uuidString)")

  init(_ count: Int) throws {
    connect = GenericConnect(
      name: "Volumes", model: try VolumeFile.model(), transport: Accepting(), forwarding: [Raise.self])
    try connect.attachPersistentStore(at: folder, for: StoreConfiguration())
    let context = connect.newBackgroundContext()
    for id in 0..<count { context.insert(Volume(id: id)) }
    try context.save()
    connect.suspended = true
    try connect.start()
  }

  func forward(_ count: Int, entities: Int) throws {
    try blocking { [connect] in
      for number in 0..<count { try await connect.forward(Raise(volume: number % entities)) }
    }
  }

  func drain() throws {
    connect.suspended = false
    try blocking { [connect] in await connect.outbox.idle() }
  }

  /// How often volumes were raised, as they are stored.
  func raised() throws -> Int {
    try connect.newBackgroundContext().fetch(FetchDescriptor<Volume>()).reduce(0) { sum, volume in
      sum + volume.year - Volume(id: volume.id).year
    }
  }

  func end() throws {
    try connect.stop()
    try FileManager.default.removeItem(at: folder)
  }
}

/// Counts in the year of a volume.
private struct Raise: ForwardAction {
  var volume: Int
  static let name = "raise"
  var entity: AnyEntityReference { .init(Volume.self, id: volume) }
  func apply(to store: EntityStore) throws { store.update(Volume.self, id: volume) { $0.year += 1 } }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    _ = try await transport.send(TransportRequest("POST", "/volumes/\(volume)/raises")).successful()
  }
}

/// A service that accepts all at once.
private struct Accepting: Transport {
  func send(_ request: TransportRequest) async throws -> TransportResponse { TransportResponse(status: 204) }
}
