/// The name of a writer, which the change sets of ``EntityStore/changes`` carry.
///
/// ```swift
/// extension TransactionContext { static let importer: TransactionContext = "importer" }
/// store.transaction(context: .importer) { tx in tx.store(books) }
/// ```
public struct TransactionContext: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name that tells contexts apart.
  public let name: String

  /// Creates a context with a name.
  public init(_ name: String) { self.name = name }
  public init(stringLiteral value: String) { name = value }

  /// The context of data that came from a server.
  public static let server: TransactionContext = "server"
}
