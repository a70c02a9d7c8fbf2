public import Concord
public import ConcordConnect
public import ConcordPersistence
import Foundation

/// Keeps what was forwarded to it, in order.
public struct Tally: PersistentEntity, Equatable {
  public let id: Int
  public var count: Int
  /// The numbers of the actions, each after a space.
  public var log: String

  public static let persistentProperties: [PersistentProperty<Tally>] = [
    .init("id", \.id), .init("count", \.count), .init("log", \.log),
  ]
  public init(from row: inout RowReader) throws {
    self.init(id: try row.read(), count: try row.read(), log: try row.read())
  }
  public func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(count)
    try row.write(log)
  }
  public init(id: Int, count: Int = 0, log: String = "") { (self.id, self.count, self.log) = (id, count, log) }
}

/// Adds its number to a tally.
public struct AddNumber: ForwardAction {
  public var tally: Int
  public var number: Int
  public static let name = "add-number"
  public var entity: AnyEntityReference { .init(Tally.self, id: tally) }

  public init(tally: Int, number: Int) { (self.tally, self.number) = (tally, number) }

  public func apply(to store: EntityStore) throws {
    store.update(Tally.self, id: tally) { tally in
      tally.count += 1
      tally.log += " \(number)"
    }
  }

  public func send(with transport: any Transport, key: IdempotencyKey) async throws {
    let request = TransportRequest(
      "POST", "/tallies/\(tally)", headers: ["Idempotency-Key": key.rawValue], body: Data("\(number)".utf8))
    _ = try await transport.send(request).successful()
  }
}

public func tallyModel() throws -> Model { try Model("Tallies", entities: [Tally.self]) }

/// A connect whose store has so many tallies, and which is not started.
public func tallyConnect(
  at place: String, server: URL, tallies: Int, forwarding types: [any ForwardAction.Type] = [AddNumber.self],
  dependents: OutboxPolicy.Dependents = .hold
) throws -> GenericConnect<ContextStrategy.Mixed> {
  let connect = GenericConnect<ContextStrategy.Mixed>(
    name: "Tallies", model: try tallyModel(), transport: HTTPTransport(baseURL: server, timeout: .milliseconds(1000)),
    forwarding: types,
    outboxPolicy: OutboxPolicy(
      dependents: dependents, backoff: Backoff(base: .milliseconds(10), cap: .milliseconds(200))))
  try connect.attachStore(at: place)
  let context = connect.newBackgroundContext()
  for id in 0..<tallies where try context.find(Tally.self, id: id) == nil { context.insert(Tally(id: id)) }
  if context.hasChanges { try context.save() }
  return connect
}

public func tallyConnect(_ folder: URL, server: URL, tallies: Int) throws -> GenericConnect<ContextStrategy.Mixed> {
  try tallyConnect(at: folder.path, server: server, tallies: tallies)
}
