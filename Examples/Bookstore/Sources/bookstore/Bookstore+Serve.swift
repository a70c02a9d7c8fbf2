import ArgumentParser
import BookstoreKit
import BookstoreServer
import BookstoreWeb
import Foundation

extension Bookstore {
  /// The shop as a web service.
  struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "bookstore serve",
      abstract: "The shop as a web service: catalogue, prices, reviews, carts.",
      discussion: """
        It listens on the loopback interface, prints "listening on URL" as soon as it does, and runs until it is \
        interrupted (control-C) or terminated.

        REQUESTS
          GET  /                    the version, and whether it refuses
          GET  /books[?after=99]    a hundred books: Link, ETag
          GET  /books/ID            a book with its reviews: ETag
          PUT  /books/ID/price      {"cents":1299}
          POST /books/ID/reviews    {"id":"…","stars":5,"by":"Ada","text":"…"}
          GET  /authors/ID          an author: ETag
          PUT  /authors/ID/name     {"name":"…"}
          GET  /carts/ID            a customer's cart: ETag
          POST /carts/ID/copies     {"id":"…","book":"emma"}
          GET  /events              a WebSocket: each change as it happens
          PUT  /refusing            {"isRefusing":true}: it refuses what
                                    customers send, until false is sent

        Customers send reviews, names and copies, each with an Idempotency-Key. A request whose key is known changes \
        nothing, and is answered as it was before. What is refused is answered with a status and {"error":"…"}.

        THE STORE
        --store names a folder, whose file server.sqlite one server has at a time, or the URL of a PostgreSQL database, \
        postgresql://user@host/database, which any number of servers share: what one of them takes, all of them tell. \
        Parts of the URL that are left out are read from PGHOST, PGPASSFILE and so on, as by psql.

        The store has a row in its table Applied for each key, in the order in which they were \
        applied: sequence, key, book (the author's id for a name), action. The row and what the action changes are one \
        transaction. Kill the program and start it again: what was answered is there.

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

    func validate() throws {
      if store.isEmpty { throw ValidationError("--store needs the name of a folder, or a URL.") }
    }

    func run() async throws {
      let ending = Ending()
      let catalogue = try openCatalogue(catalogue)
      let server: BookstoreServer
      do {
        server = try await BookstoreServer(port: port, place: ShopPlace(store), catalogue: catalogue)
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
