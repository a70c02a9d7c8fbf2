/// Who writes: told to those who follow ``EntityStore/changes``.
///
/// ```swift
/// extension TransactionContext { static let importer: TransactionContext = "importer" }
/// store.transaction(context: .importer) { tx in tx.store(books) }
/// ```
public struct TransactionContext: Hashable, Sendable, ExpressibleByStringLiteral {
  public let name: String

  public init(_ name: String) { self.name = name }
  public init(stringLiteral value: String) { name = value }

  /// What came from a server.
  public static let server: TransactionContext = "server"
}
