import ArgumentParser
import BookstoreClient
import Foundation

extension Bookstore {
  /// A customer that is a machine.
  struct Work: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "bookstore work",
      abstract: "A customer that is a machine: forwards copies for the cart and reviews as fast as it can.",
      discussion: """
        For each action it prints "queued KEY BOOK" as soon as the action is in its file, and will reach the server whatever \
        happens to the program. It prints "done" and ends when the server has them all, and waits as long as the server is away. \
        Killed at any instant and started again, it sends what waits before; with --actions 0 it does nothing else. The same \
        seed gives the same actions, with new keys.

        EXIT STATUS
          0   the server has everything
          1   the server refused an action
          64  wrong usage
          69  the server does not go by this name
          73  the file cannot be made or opened
          74  an action could not be queued
        """)

    @Option(help: ArgumentHelp("Where the server is.", valueName: "url"))
    var server: String

    @Option(help: ArgumentHelp("The folder that the customer's store is kept in.", valueName: "dir"))
    var store: String

    @Option(help: ArgumentHelp("How many actions to forward.", valueName: "number"))
    var actions = 1000

    @Option(help: ArgumentHelp("How many books they are about.", valueName: "number"))
    var books = 50

    @Option(help: ArgumentHelp("Which actions.", valueName: "number"))
    var seed: UInt64 = 1

    func validate() throws {
      if actions < 0 { throw ValidationError("--actions must not be negative.") }
      if books < 1 { throw ValidationError("--books must be at least 1.") }
    }

    func run() async throws {
      let storefront = try openStorefront(server, store)
      try await checkServer(storefront)
      let work = Worker(storefront, books: books, seed: seed)
      do {
        try await work.forward(actions) { key, book in say("queued \(key) \(book)") }
      } catch {
        complain("\(error)")
        throw ExitCode(74)
      }
      let refused = await work.drain()
      for reason in refused { complain("refused: \(reason)") }
      try await storefront.close()
      if !refused.isEmpty { throw ExitCode(1) }
      say("done")
    }
  }
}
