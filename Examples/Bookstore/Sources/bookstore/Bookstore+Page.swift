import ArgumentParser
import BookstoreClient
import BookstoreKit
import BookstoreWeb
import ConcordSync
import Foundation

extension Bookstore {
  /// A customer of the server, and the page that shows what she sees.
  struct Page: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "bookstore page",
      abstract: "A customer of the server, with a store of its own, whose four screens a page shows.",
      discussion: """
        It follows the server, keeps what it has heard in a file, and serves a page on the loopback interface. It prints \
        "open URL" as soon as the page is there, and runs until it is interrupted (control-C) or terminated. Other pages \
        in the same browser are refused.

        On the page, buttons change a price on the server, put a book into the cart, write a review and rename an \
        author; a switch takes the device offline and back, another makes the server refuse, and a button kills this program, as \
        kill -9 does. Whoever started it may start it again with the same --store.

        WITHOUT A BROWSER
        With --headless it plays a scenario with all of these instead, and compares the screens with each other and with those \
        of a second device after each step.

        EXIT STATUS
          0   fine; with --headless: all screens agreed
          1   the screens disagreed
          64  wrong usage
          69  the page cannot be served there, or the server cannot be reached or does not go by this name
          73  the file of the customer cannot be made or opened
        """)

    @Option(help: ArgumentHelp("Where the server is.", valueName: "url"))
    var server: String = "http://127.0.0.1:8080"

    @Option(help: ArgumentHelp("The folder that the device's store is kept in.", valueName: "dir"))
    var store: String?

    @Option(help: ArgumentHelp("Which of the customer's devices it is, where no folder is named.", valueName: "number"))
    var device = 1

    @Option(help: ArgumentHelp("The customer's name: letters and digits.", valueName: "name"))
    var user = usualUser

    @Option(help: ArgumentHelp("Where the page is served. With 0, on any port that is free.", valueName: "number"))
    var port: UInt16 = 0

    @Option(help: ArgumentHelp("The page of another device. URL/both shows it beside this one.", valueName: "url"))
    var beside: String?

    @Flag(help: "Begin with the switch on offline.")
    var offline = false

    @Flag(help: "Play the scenario without a browser.")
    var headless = false

    func validate() throws {
      try check(user: user)
      if let beside, URL(string: beside)?.host() == nil {
        throw ValidationError("--beside needs the address of a page.")
      }
    }

    private var usualStore: String {
      let folder = user == Self.usualUser ? "customer" : "user-\(user)"
      return Place.usual.appendingPathComponent(device == 1 ? folder : "\(folder)-\(device)").path
    }

    private static let usualUser = "reader"

    func run() async throws {
      let ending = Ending()
      let storefront = try openStorefront(server, store ?? usualStore, user: user, isOnline: !offline)
      try await checkServer(storefront)
      if headless {
        let folder = FileManager.default.temporaryDirectory.appending(path: "bookstore-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let other = try openStorefront(server, folder.path, user: user)
        let holds = try await Scenario(storefront, other: other).run(say)
        for device in [storefront, other] { try await device.close() }
        if !holds { throw ExitCode(1) }
        return
      }
      let page: PageServer
      do {
        page = try await PageServer(storefront, port: port, beside: beside.flatMap { URL(string: $0) })
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
  _ server: String, _ folder: String, user: String = "reader", isOnline: Bool = true,
  recording: ((any RowStore, Model) throws -> any RowStore)? = nil
) throws -> Storefront {
  guard let url = URL(string: server), url.scheme == "http", url.host() != nil, url.port != nil else {
    throw ValidationError("--server needs an address such as http://127.0.0.1:8080.")
  }
  if folder.isEmpty { throw ValidationError("--store needs the name of a folder.") }
  do {
    let folder = URL(fileURLWithPath: folder, isDirectory: true)
    return try Storefront(server: url, folder: folder, customer: user, isOnline: isOnline, recording: recording)
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
