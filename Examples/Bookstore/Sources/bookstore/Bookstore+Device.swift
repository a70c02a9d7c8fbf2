import ArgumentParser
import BookstoreClient
import Foundation

extension Bookstore {
  /// A customer that is a machine, and says all that it does and shows.
  struct Device: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "bookstore device",
      abstract: "A customer that is a machine, and says all that it does and shows.",
      discussion: """
        It forwards actions that are drawn by chance (the same ones for the same seed, with new keys), and ends when the server \
        has decided them all and the device shows what the server had by then. Killed at any instant and started again, it \
        sends what waits before. Each line is a JSON object:

          {"action":"add-to-cart","queued":KEY}
              the action is in the file
          {"decided":KEY,"isAccepted":true}
          {"decided":KEY,"isAccepted":false,"reason":"it is not allowed"}
              the server has decided; a program that is killed may not have come to saying so:
              an action that no later state has pending was accepted, unless it was refused,
              which is said again when the program is started again
          {"digest":"…","pending":[KEY,…],"position":"…"}
              the device shows the rows of this digest, which are the server's at the
              position, below the effects of the pending actions, in order

        With --states such a line also has the rows: {"entity":"Author","id":"…","row":{…}}, the values of the columns by \
        name, and of each list its elements. The digest is FNV-1a of 64 bits over the rows as JSON without spaces and with \
        sorted keys, sorted by their bytes, each with a line feed behind it. Where "bookstore serve --history FILE" was \
        started, its file has the same positions and rows: all books with what they contain, and the customer's own cart, \
        have to be the same.

        EXIT STATUS
          0   the server has decided everything
          64  wrong usage
          69  the server does not go by this name
          73  the file cannot be made or opened
          74  an action could not be queued
        """)

    @Option(help: ArgumentHelp("Where the server is.", valueName: "url"))
    var server: String

    @Option(help: ArgumentHelp("The folder that the device's store is kept in.", valueName: "dir"))
    var store: String

    @Option(help: ArgumentHelp("The customer's name: letters and digits.", valueName: "name"))
    var user: String

    @Option(help: ArgumentHelp("How many actions to forward.", valueName: "number"))
    var actions = 100

    @Option(help: ArgumentHelp("Which actions.", valueName: "number"))
    var seed: UInt64 = 1

    @Flag(help: "Say each state whole.")
    var states = false

    func validate() throws {
      if actions < 0 { throw ValidationError("--actions must not be negative.") }
      try check(user: user)
    }

    func run() async throws {
      let machine = try Machine(output: STDOUT_FILENO, showsRows: states) { recording in
        try openStorefront(server, store, user: user, recording: recording)
      }
      let storefront = machine.storefront
      try await checkServer(storefront)
      do {
        try await machine.act(actions, seed: seed)
      } catch {
        complain("\(error)")
        throw ExitCode(74)
      }
      try await machine.finish()
      try await storefront.close()
    }
  }
}

/// Checks the name of a customer.
func check(user: String) throws {
  guard (1...50).contains(user.count), user.allSatisfy({ $0.isLetter || $0.isNumber }) else {
    throw ValidationError("--user needs a name of letters and digits.")
  }
}
