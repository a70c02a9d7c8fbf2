import ArgumentParser
import BookstoreClient
import BookstoreKit
import BookstoreWeb
import Foundation

extension Bookstore {
  /// A customer of the web service, and the page that shows what she sees.
  struct Page: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "bookstore page",
      abstract: "A customer of the web service, with a store of its own, whose four screens a page shows.",
      discussion: """
        It follows the server, keeps what it has heard in a file, and serves a page on the loopback interface. It prints \
        "open URL" as soon as the page is there, and runs until it is interrupted (control-C) or terminated. Other pages \
        in the same browser are refused.

        On the page, buttons change a price on the server, put a book into the cart, write a review and rename an \
        author; a switch takes the customer offline and back, and another makes the server refuse.

        WITHOUT A BROWSER
        With --headless it plays a scenario with all of these instead, and compares the screens with each other and with the \
        server after each step.

        EXIT STATUS
          0   fine; with --headless: all screens agreed
          1   the screens disagreed
          64  wrong usage
          69  the page cannot be served there, or the server cannot be reached or does not go by this name
          73  the file of the customer cannot be made or opened
        """)

    @Option(help: ArgumentHelp("Where the server is.", valueName: "url"))
    var server: String = "http://127.0.0.1:8080"

    @Option(help: ArgumentHelp("The folder that the customer's store is kept in.", valueName: "dir"))
    var store: String = Place.usual.appendingPathComponent("customer").path

    @Option(help: ArgumentHelp("Where the page is served. With 0, on any port that is free.", valueName: "number"))
    var port: UInt16 = 0

    @Flag(help: "Begin with the switch on offline.")
    var offline = false

    @Flag(help: "Play the scenario without a browser.")
    var headless = false

    func run() async throws {
      let ending = Ending()
      let storefront = try openStorefront(server, store, isOnline: !offline)
      try await checkServer(storefront)
      if headless {
        let holds = try await Scenario(storefront).run(say)
        try await storefront.close()
        if !holds { throw ExitCode(1) }
        return
      }
      let page: PageServer
      do {
        page = try await PageServer(storefront, port: port)
      } catch let error as ListeningError {
        complain("\(error)")
        throw ExitCode(69)
      }
      say("open \(page.url)")
      await ending.awaited()
      await page.stop()
      try await storefront.close()
    }
  }
}

/// Opens the customer's store; ends the program with a message when it cannot be had.
func openStorefront(
  _ server: String, _ folder: String, isOnline: Bool = true, followsFeed: Bool = true
) throws -> Storefront {
  guard let url = URL(string: server), url.scheme == "http", url.host() != nil, url.port != nil else {
    throw ValidationError("--server needs an address such as http://127.0.0.1:8080.")
  }
  if folder.isEmpty { throw ValidationError("--store needs the name of a folder.") }
  do {
    let folder = URL(fileURLWithPath: folder, isDirectory: true)
    return try Storefront(server: url, folder: folder, isOnline: isOnline, followsFeed: followsFeed)
  } catch {
    complain("\(folder): \(error)")
    throw ExitCode(73)
  }
}

/// Ends the program with a message when the server will never answer under its name.
func checkServer(_ storefront: Storefront) async throws {
  do {
    try await storefront.checkServer()
  } catch {
    complain("\(error)")
    try await storefront.close()
    throw ExitCode(69)
  }
}
