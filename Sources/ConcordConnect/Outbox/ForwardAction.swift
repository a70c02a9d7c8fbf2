public import Concord

/// A change, and the request that carries it to a web service.
///
/// ```swift
/// struct AddToCart: ForwardAction {
///   var book: Book.ID
///   static let name = "add-to-cart"
///   var entity: AnyEntityReference { .init(Book.self, id: book) }
///
///   func apply(to store: EntityStore) throws { store.update(Book.self, id: book) { $0.inCart += 1 } }
///   func send(with transport: any Transport, key: IdempotencyKey) async throws {
///     let request = TransportRequest("POST", "/cart/\(book)", headers: ["Idempotency-Key": key.rawValue])
///     _ = try await transport.send(request).successful()
///   }
/// }
/// ```
///
/// It is kept as JSON until the service has answered, so that a later version of the program has to be able to read it.
public protocol ForwardAction: Codable, Sendable {
  /// The name of the type in the outbox. It stays the same when the type is renamed.
  static var name: String { get }

  /// The entity with which the action keeps its order: actions of one entity are sent one after another, as they were forwarded.
  var entity: AnyEntityReference { get }

  /// The further stored entities that ``apply(to:)`` reads or changes; none by default. Entities that it inserts are
  /// not among them.
  var touches: [AnyEntityReference] { get }

  /// Makes the change. It is called whenever the state below it has changed, and once more when the service has
  /// accepted, on any thread. It must not use anything but the store, or have other effects.
  ///
  /// - Parameter store: a store that may hold only ``entity``, ``touches`` and the entities that they contain.
  /// - Throws: an error if the change does not apply to the present state.
  func apply(to store: EntityStore) throws

  /// Sends the change to the service.
  ///
  /// - Parameters:
  ///   - transport: the outbox's transport.
  ///   - key: the key by which the service recognises the action when it comes again. It stays the same after a restart.
  /// - Throws: ``TransportError``, a ``NonRetriable`` error if it is of no use to try again, or any other error if it is.
  func send(with transport: any Transport, key: IdempotencyKey) async throws
}

extension ForwardAction {
  public var touches: [AnyEntityReference] { [] }
}

/// An error that no retry can mend: the outbox refuses the action at once.
public protocol NonRetriable: Error {}

/// An error that no retry can mend, with its reason: the outbox refuses the action at once.
public struct NonRetriableError: NonRetriable, CustomStringConvertible {
  public let description: String

  /// Creates an error with a reason for people.
  public init(_ reason: String) { description = reason }
}
