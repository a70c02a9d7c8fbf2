#if PostgreSQL
  public import Foundation

  /// An error of a store whose role may not make its tables, or not use them: it has the SQL that an administrator is to run.
  ///
  /// Nothing was changed. Once the SQL was run, by the role that is to own the tables, the store can be attached.
  public struct PostgreSQLRightsError: Error, Equatable, Sendable {
    /// The name of the store.
    public let store: String
    /// The role that the store connects as.
    public let role: String
    /// The request that the server has refused.
    public let reason: String
    /// The SQL statements that create the missing tables, and grant the role the rights that it needs: a script for `psql`,
    /// in one transaction.
    public let sql: String
  }

  extension PostgreSQLRightsError: LocalizedError, CustomStringConvertible {
    public var description: String {
      """
      the role \(role) may not make or use the tables of \(store): \(reason); \
      an administrator runs the SQL that this error has, or that `concord schema --postgresql` prints
      """
    }

    public var errorDescription: String? { description }
  }
#endif
