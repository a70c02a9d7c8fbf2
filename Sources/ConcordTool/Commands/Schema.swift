#if Tool
  import ArgumentParser

  struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints the SQL that makes the tables of a PostgreSQL database elsewhere.",
      discussion: """
        For an administrator of a database in which the program's role may not make tables: the program has made them once in another \
        database, for tests, whose URL is given here. The SQL is a script for psql, in one transaction. Who runs it owns the tables; \
        --role gets the least rights that a program needs.

          concord schema --postgresql postgresql://localhost/staging --role shop | psql postgresql://admin@db.internal/shop

        A program can tell the SQL itself, too: PostgreSQLStore.sql(for:schema:role:isFollowed:), and the error with which attaching fails.
        """)

    @Option(help: ArgumentHelp("The database that has the tables.", valueName: "URL"))
    var postgresql: String

    @Option(help: ArgumentHelp("The role that programs connect as; without it they are the owner.", valueName: "name"))
    var role: String?

    @Option(help: ArgumentHelp("How long to wait for the server.", valueName: "seconds"))
    var wait: Double = 5

    @OptionGroup var server: ServerOptions

    func run() throws {
      #if PostgreSQL
        // libpq takes other forms than URLs, too.
        try PostgreSQLSource.with(SourceOptions(postgresql, wait: wait, server), writes: false) { source in
          var output = Output()
          try output.write(Array(try source.script(for: role).utf8))
          try output.flush()
        }
      #else
        throw SourceOptions.withoutPostgreSQL
      #endif
    }
  }
#endif
