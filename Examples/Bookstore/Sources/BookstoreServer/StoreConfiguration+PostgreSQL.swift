import ConcordPersistence

#if PostgreSQL
  import ConcordPostgreSQL

  extension StoreConfiguration {
    /// The configuration of a shop in a database.
    static func postgreSQL(_ url: String) throws -> StoreConfiguration {
      StoreConfiguration(type: .postgreSQL, options: [ConcordPostgreSQLOption: url])
    }
  }
#else
  extension StoreConfiguration {
    /// Throws, since nothing of PostgreSQL is compiled.
    static func postgreSQL(_ url: String) throws -> StoreConfiguration { throw PostgreSQLIsOff() }

    private struct PostgreSQLIsOff: Error, CustomStringConvertible {
      var description: String { "this program was built without it; build it with --traits default,PostgreSQL" }
    }
  }
#endif
