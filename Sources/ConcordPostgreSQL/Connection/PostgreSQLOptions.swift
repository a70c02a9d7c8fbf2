#if PostgreSQL
  import ConcordPersistence
  import Foundation

  /// The connection string of a PostgreSQL store (`String`), as libpq reads it: a URL, or words such as `host=db.internal dbname=shop`. What
  /// it leaves out is taken from the environment (`PGHOST`, `PGPASSFILE`, …), so that an empty one is fine.
  public let ConcordPostgreSQLOption = "ConcordPostgreSQLOption"
  /// The schema that has the tables of a PostgreSQL store (`String`); `concord` if not given.
  public let ConcordPostgreSQLSchemaOption = "ConcordPostgreSQLSchemaOption"
  /// The greatest number of connections that a PostgreSQL store uses at the same time (`Int`), beside the one that listens; 8 if not given.
  public let ConcordPostgreSQLPoolSizeOption = "ConcordPostgreSQLPoolSizeOption"
  /// The time after which an unused connection is closed, in seconds (`Double`); 60 if not given.
  public let ConcordPostgreSQLIdleTimeOption = "ConcordPostgreSQLIdleTimeOption"
  /// The time to wait for a connection, and for the answer to one statement, in seconds (`Double`); 30 if not given.
  public let ConcordPostgreSQLTimeoutOption = "ConcordPostgreSQLTimeoutOption"
  /// The interval at which a PostgreSQL store looks for commits of which it was not notified, in seconds (`Double`); 1 if not given.
  public let ConcordPostgreSQLPollIntervalOption = "ConcordPostgreSQLPollIntervalOption"
  /// The time for which the feed keeps changes for processes that are away, in seconds (`Double`); a day if not given.
  public let ConcordPostgreSQLFeedRetentionOption = "ConcordPostgreSQLFeedRetentionOption"

  /// The options of a store, with their defaults.
  struct PostgreSQLOptions: Sendable {
    var connection = ""
    var schema = "concord"
    var poolSize = 8
    var idleTime = 60.0
    var timeout = 30.0
    /// The time to wait for the answer to one statement, if it is not that to wait for a connection.
    var statementTimeout: Double?
    var pollInterval = 1.0
    var feedRetention = 86_400.0

    /// The longest time to wait, in seconds, for whoever wants no limit: the server counts 31 bits of milliseconds.
    private static let longestWait = 2_000_000.0
    /// The longest time to keep something, in seconds: a hundred years, which the server subtracts from the date.
    private static let longestKeeping = 3_155_760_000.0

    init(connection: String = "", schema: String = "concord") { (self.connection, self.schema) = (connection, schema) }

    init(_ options: StoreConfiguration.Options) {
      func value<T>(_ key: String, _ standard: T) -> T { options[key] as? T ?? standard }
      func number(_ key: String, _ standard: Double, atMost longest: Double = Self.longestWait) -> Double {
        let value = options[key] as? Double ?? (options[key] as? Int).map(Double.init) ?? standard
        return value.isNaN ? standard : min(max(0, value), longest)
      }
      connection = value(ConcordPostgreSQLOption, connection)
      schema = value(ConcordPostgreSQLSchemaOption, schema)
      poolSize = max(1, value(ConcordPostgreSQLPoolSizeOption, poolSize))
      idleTime = number(ConcordPostgreSQLIdleTimeOption, idleTime, atMost: Self.longestKeeping)
      timeout = number(ConcordPostgreSQLTimeoutOption, timeout)
      pollInterval = max(0.01, number(ConcordPostgreSQLPollIntervalOption, pollInterval))
      feedRetention = number(ConcordPostgreSQLFeedRetentionOption, feedRetention, atMost: Self.longestKeeping)
    }
  }
#endif
