#if Tool
  import ArgumentParser
  import Foundation

  /// The program `concord`, which inspects files of `ConcordPersistence`, and exports and imports their rows, without the
  /// program that wrote them.
  @main
  struct ConcordTool: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "concord",
      abstract: "Looks into the files and databases that Concord keeps entities in.",
      discussion: """
        FILE is an SQLite file that a container has attached, or the URL of a PostgreSQL database. It is only read, except by \
        'import' and 'compact'. Programs that use it may go on: what a command shows is one state of it.

        On a terminal the output has colours and columns; otherwise it has neither, nor if NO_COLOR is set.

        EXIT CODES:
        \(ExitStatus.allCases.map { "  \($0.code)\t\($0.meaning)" }.joined(separator: "\n"))
        """,
      version: "concord 1.0.0",
      subcommands: [Info.self, List.self, Check.self, Export.self, Import.self, Compact.self, Schema.self])

    static func main() {
      // A reader that has read enough closes the pipe: writes then fail, and the file is closed as usual.
      signal(SIGPIPE, SIG_IGN)
      Interruption.take()
      do {
        var command = try parseAsRoot()
        try command.run()
      } catch let error as ToolError {
        // After a signal, failures are its consequences.
        let code = error.status == .done ? nil : Interruption.code
        ToolError.show(code == nil ? error : ToolError(.interrupted, "interrupted"))
        Foundation.exit(code ?? error.status.code)
      } catch {
        let message = fullMessage(for: error)
        let safe = withoutPasswords(message)
        if safe == message { exit(withError: error) }
        try? FileHandle.standardError.write(contentsOf: Data("\(safe)\n".utf8))
        Foundation.exit(exitCode(for: error).rawValue)
      }
    }
  }
#else
  import Foundation

  @main
  enum ConcordTool {
    static func main() {
      let text = "concord was built without the trait 'Tool', and can do nothing\n"
      try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
      exit(70)
    }
  }
#endif
