#if Tool
  import ArgumentParser

  struct SourceOptions: ParsableArguments {
    @Argument(
      help: """
        The file, as in ~/Library/Application\\ Support/Bookstore/Library.sqlite, or the URL of a PostgreSQL database, as in \
        postgresql://shop@db.internal/shop. A password is better kept in PGPASSFILE than in the URL.
        """, completion: .file())
    var file: String

    @Option(
      help: ArgumentHelp("How long to wait for others that hold the file, or for the server.", valueName: "seconds"))
    var wait: Double = 5

    @OptionGroup var server: ServerOptions

    init() {}

    /// - Parameter url: the URL of a database.
    init(_ url: String, wait: Double, _ server: ServerOptions) {
      (file, self.wait, self.server) = (url, wait, server)
    }

    var isURL: Bool { Self.isURL(file) }

    static func isURL(_ text: String) -> Bool {
      let start = text.prefix(13).lowercased()
      return start.hasPrefix("postgresql://") || start.hasPrefix("postgres://")
    }

    func validate() throws {
      if !(0...86_400).contains(wait) { throw ValidationError("--wait takes 0 to 86400 seconds.") }
    }
  }

  /// The options that apply to servers only.
  struct ServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The schema of the PostgreSQL database that has the tables.", valueName: "name"))
    var schema: String = "concord"

    @Option(help: ArgumentHelp("How long the PostgreSQL server may take for one statement.", valueName: "seconds"))
    var timeout: Double = 600

    func validate() throws {
      if !(1...86_400).contains(timeout) { throw ValidationError("--timeout takes 1 to 86400 seconds.") }
      if schema.isEmpty || schema.contains("\0") { throw ValidationError("--schema takes a name.") }
    }
  }
#endif
