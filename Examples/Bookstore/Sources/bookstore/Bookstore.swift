import ArgumentParser
import BookstoreKit
import ConcordPersistence
import Foundation

/// The screens on a terminal, or compared without one.
struct Bookstore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bookstore",
    abstract: "A bookshop whose screens all show the same truth while events come in.",
    discussion: """
      Four screens observe one Concord store: a list of all books, one book with its reviews, an author with all of \
      her books, and the current user's shelf. Each event changes the store once, and all screens that show what it \
      changed follow. What has just changed is highlighted.

      Below the screens: events per second, entities alive in the store, observers, and the delay from the arrival of \
      an event until it was drawn (median and 99th percentile).

      KEYS
        tab, n, →         next screen
        shift-tab, b, ←   previous screen
        ↑ ↓, k j          another book
        p, space          pause the screen; again: it catches up
        z, return         the screen alone, or all four
        s                 sell a copy (with --legacy)
        q                 quit

      EVENTS
      One JSON object on each line (the third is broken here only to fit):
        {"type":"price","book":"emma","cents":1299}
        {"type":"stock","book":"emma","count":3}
        {"type":"review","book":"emma","id":"r1","stars":5,"by":"Ada",
         "text":"Worth it."}
        {"type":"title","book":"emma","title":"Emma, corrected"}
        {"type":"name","author":"jane-austen","name":"J. Austen"}
        {"type":"remove","book":"emma"}
      Each may carry a time or a version, "at": a number. An event that is not newer than what the store knows of the \
      same book or author is stale, and discarded. Without "at", it is stamped with the time it arrives (seconds since \
      2001). A line that is no event, or speaks of something that is not there, is told on standard error with its \
      number and the reason, and counted as malformed; the next events still arrive.

      LEGACY
      With --legacy a fifth screen joins, as in an app that moves to the store screen by screen. It holds its books \
      itself, and observes nothing: a ConsistencyManager keeps it and the store in step. What changes in the store \
      reaches it, also that a book was removed; the copies that it sells reach the store, and thereby the other screens.

      ON DISK
      Catalogue, prices, reviews, the shelf and the selected book are kept in the SQLite file bookstore.sqlite, in the \
      folder that --store names; without it, in \(Place.usual.path). Start, quit or kill the program, start it again: \
      the screens are as they were. With --store memory nothing is kept.

      --acknowledge prints "saved 7" at once when the event of line 7 is in the file, and stays there whatever \
      happens to the program. Events that are stale or malformed change nothing, and are not acknowledged.

      WITHOUT A TERMINAL
      When standard output is no terminal, or with --headless, the screens are drawn in memory, compared with each \
      other and with a recomputation without the store after every 100 events and at the end, and printed as they end.

      OTHER COMMANDS
        bookstore serve   the shop as a server of devices
        bookstore page    a customer of it, whose four screens a page shows
        bookstore work    a customer that is a machine
        bookstore device  the same, which says all that it does and shows
      Each says with --help what it does.

      EXIT STATUS
        0   fine; without a terminal: all screens agreed
        1   the screens disagreed
        64  wrong usage
        65  the catalogue is malformed: file, line and reason are on standard error
        66  the catalogue or the events cannot be read
        73  the file of the shop cannot be made or opened
        74  an event could not be saved
      """)

  @Option(
    help: ArgumentHelp(
      "The books that a new shop sells, instead of those that come with the example.", valueName: "file"))
  var catalogue: String?

  @Option(
    help: ArgumentHelp("The folder that the shop is kept in. With \"memory\" it is gone at the end.", valueName: "dir"))
  var store: String?

  @Option(
    help: ArgumentHelp(
      "Read events from a file, or from standard input: -. Without it, events are invented.", valueName: "file|-"))
  var events: String?

  @Option(
    help: ArgumentHelp(
      "Events per second. By default 20 invented ones on a terminal, and otherwise as fast as they come.",
      valueName: "number"))
  var rate: Double?

  @Option(
    help: ArgumentHelp(
      "Stop the feed after so many lines. By default 2000 invented ones without a terminal, and otherwise all.",
      valueName: "number"))
  var count: Int?

  @Option(help: ArgumentHelp("Invent other events: the same seed gives the same ones.", valueName: "number"))
  var seed: UInt64 = 1

  @Option(help: ArgumentHelp("The id of the book to show first.", valueName: "id"))
  var book: String?

  @Flag(help: "Show a fifth screen, which holds its own objects and is not on the store.")
  var legacy = false

  @Flag(help: "Run without a terminal, as described above.")
  var headless = false

  @Flag(help: "Print \"saved N\" when the event of line N is in the file. Without a terminal.")
  var acknowledge = false

  @Flag(help: "Print invented events, one a line, instead of running: 2000, or --count.")
  var printEvents = false

  func validate() throws {
    if let rate, !(rate > 0 && rate.isFinite) { throw ValidationError("--rate must be more than 0.") }
    if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
    if printEvents, events != nil { throw ValidationError("--print-events invents events; leave out --events.") }
    if acknowledge, !runsHeadless {
      throw ValidationError("--acknowledge prints where the screens are; add --headless, or send it through a pipe.")
    }
    if store == "" { throw ValidationError("--store needs the name of a folder, or \"memory\".") }
    if events == "-", !runsHeadless, isatty(STDIN_FILENO) == 1 {
      throw ValidationError("--events - reads standard input, which is the keyboard here. Send events through a pipe.")
    }
  }

  func run() async throws {
    if printEvents { return try printInvented() }
    let session = try session()
    do {
      guard runsHeadless else { return try await InteractiveRun(session).run() }
      switch try await HeadlessRun(session).run() {
      case .agreed: break
      case .disagreed: throw ExitCode(1)
      case .failed: throw ExitCode(74)
      }
    } catch let error as StoreError {
      complain("\(error)")
      throw ExitCode(74)
    }
  }

  var runsHeadless: Bool { headless || isatty(STDOUT_FILENO) != 1 }
}
