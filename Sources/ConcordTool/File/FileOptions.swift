#if Tool
  import ArgumentParser

  /// The options of all commands.
  struct FileOptions: ParsableArguments {
    @Argument(help: "The file, as in ~/Library/Application\\ Support/Bookstore/Library.sqlite", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("How long to wait for others that hold the file.", valueName: "seconds"))
    var wait: Double = 5

    func validate() throws {
      if !(0...86_400).contains(wait) { throw ValidationError("--wait takes 0 to 86400 seconds.") }
    }
  }
#endif
