import ArgumentParser
import BookstoreKit
import BookstoreServer
import BookstoreWeb
import Foundation

extension Bookstore {
  /// The shop as a server of devices.
  struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "bookstore serve",
      abstract: "The shop as a server of devices: catalogue, prices, reviews, carts.",
      discussion: """
        It listens on the loopback interface, prints "listening on URL" as soon as it does, and runs until it is \
        interrupted (control-C) or terminated.

        DEVICES
          POST /sync/pages, /sync/actions   what ConcordSync sends; the token is the name of
                                            a customer: Authorization: Bearer reader
          GET  /sync/health/ready           whether the store can be read
        All customers subscribe to "books", and each to "cart", her own. Their actions are add-to-cart, write-review and \
        rename-author.

        STAFF
          GET  /                    whether it refuses what customers do
          POST /refusing            {"isRefusing":true}: it does, until false is sent
          POST /books/ID/price      {"cents":-100}: changes a price by so much

        THE STORE
        --store names a folder, whose file server.sqlite one server has at a time, or the URL of a PostgreSQL database, \
        postgresql://user@host/database, which any number of servers share: what one of them takes, all of them tell. \
        Parts of the URL that are left out are read from PGHOST, PGPASSFILE and so on, as by psql.

        An action's effect and its key are one transaction. Kill the program and start it again: what was answered is there.

        HISTORY
        With --history the file gets a line before any device of this server sees a state: {"from":…,"to":…,"rows":[…],\
        "accepted":{"reader":[KEY,…]}}, the positions of the feed before and after, the rows that differ (all, where "from" is \
        missing), and the keys of the actions whose effects are there since. Each commit of this server has a line; what other \
        programs and servers have committed is in the first line after it, several commits together. Of several servers each \
        has a file of its own, for the devices that ask it. "bookstore device --help" says how rows look. Requests are answered \
        one after the other then.

        EXIT STATUS
          0   it was interrupted or terminated
          64  wrong usage
          65  the catalogue is malformed: file, line and reason are on standard error
          66  the catalogue cannot be read
          69  it cannot listen there: the port is taken, or refused
          73  nothing can be written into the folder, another server works in it, the
              database cannot be had, or a later version has written the store
        """)

    @Option(help: ArgumentHelp("Where it listens. With 0, on any port that is free.", valueName: "number"))
    var port: UInt16 = 8080

    @Option(
      name: [.long, .customLong("data")],
      help: ArgumentHelp("The folder or the PostgreSQL database that the shop is kept in.", valueName: "dir|url"))
    var store: String = Place.usual.appendingPathComponent("server").path

    @Option(
      help: ArgumentHelp(
        "The books that a new shop sells, instead of those that come with the example.", valueName: "file"))
    var catalogue: String?

    @Option(help: ArgumentHelp("Write what is committed into this file, as JSON lines.", valueName: "file"))
    var history: String?

    func validate() throws {
      if history == "" { throw ValidationError("--history needs the name of a file.") }
      if store.isEmpty { throw ValidationError("--store needs the name of a folder, or a URL.") }
    }

    func run() async throws {
      let ending = Ending()
      let catalogue = try openCatalogue(catalogue)
      let server: BookstoreServer
      do {
        server = try await BookstoreServer(
          port: port, place: ShopPlace(store), catalogue: catalogue, history: history.map { URL(fileURLWithPath: $0) })
      } catch let error as ServerError {
        complain("\(error)")
        throw ExitCode(73)
      } catch let error as ListeningError {
        complain("\(error)")
        throw ExitCode(69)
      }
      say("listening on \(server.url)")
      await ending.awaited()
      await server.stop()
    }
  }
}
