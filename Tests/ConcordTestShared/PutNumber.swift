public import Concord
public import ConcordConnect
import Foundation

/// Adds its number to a tally, and can be taken back.
public struct PutNumber: ReversibleAction {
  public var tally: Int
  public var number: Int
  public static let name = "put-number"
  public var entity: AnyEntityReference { .init(Tally.self, id: tally) }

  public init(tally: Int, number: Int) { (self.tally, self.number) = (tally, number) }

  public func apply(to store: EntityStore) throws { note(number, 1, in: tally, store) }
  public func inverse(in store: EntityStore) throws -> TakeNumber { TakeNumber(tally: tally, number: number) }

  public func send(with transport: any Transport, key: IdempotencyKey) async throws {
    try await post(number, tally, transport, key)
  }
}

/// Takes a number back. The log of the tally keeps both, so that it tells what was lost, doubled, or exchanged.
public struct TakeNumber: ForwardAction {
  public var tally: Int
  public var number: Int
  public static let name = "take-number"
  public var entity: AnyEntityReference { .init(Tally.self, id: tally) }

  public func apply(to store: EntityStore) throws { note(-number, -1, in: tally, store) }

  public func send(with transport: any Transport, key: IdempotencyKey) async throws {
    try await post(-number, tally, transport, key)
  }
}

private func note(_ number: Int, _ count: Int, in tally: Int, _ store: EntityStore) {
  store.update(Tally.self, id: tally) { tally in
    tally.count += count
    tally.log += " \(number)"
  }
}

private func post(_ number: Int, _ tally: Int, _ transport: any Transport, _ key: IdempotencyKey) async throws {
  let request = TransportRequest(
    "POST", "/tallies/\(tally)", headers: ["Idempotency-Key": key.rawValue], body: Data("\(number)".utf8))
  _ = try await transport.send(request).successful()
}
