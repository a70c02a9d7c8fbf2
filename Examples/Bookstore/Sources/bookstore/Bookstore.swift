import ArgumentParser
import BookstoreKit
import Foundation

@main
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
      1970). A line that is no event, or speaks of something that is not there, is told on standard error with its \
      number and the reason, and counted as malformed; the next events still arrive.

      LEGACY
      With --legacy a fifth screen joins, as in an app that moves to the store screen by screen. It holds its books \
      itself, and observes nothing: a ConsistencyManager keeps it and the store in step. What changes in the store \
      reaches it, also that a book was removed; the copies that it sells reach the store, and thereby the other screens.

      WITHOUT A TERMINAL
      When standard output is no terminal, or with --headless, the screens are drawn in memory, compared with each \
      other and with a recomputation without the store after every 100 events and at the end, and printed as they end.

      EXIT STATUS
        0   fine; without a terminal: all screens agreed
        1   the screens disagreed
        64  wrong usage
        65  the catalogue is malformed: file, line and reason are on standard error
        66  the catalogue or the events cannot be read
      """)

  @Option(help: ArgumentHelp("The books to sell, instead of those that come with the example.", valueName: "file"))
  var catalogue: String?

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

  @Flag(help: "Print invented events, one a line, instead of running: 2000, or --count.")
  var printEvents = false

  func validate() throws {
    if let rate, !(rate > 0 && rate.isFinite) { throw ValidationError("--rate must be more than 0.") }
    if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
    if printEvents, events != nil { throw ValidationError("--print-events invents events; leave out --events.") }
    if events == "-", !runsHeadless, isatty(STDIN_FILENO) == 1 {
      throw ValidationError("--events - reads standard input, which is the keyboard here. Send events through a pipe.")
    }
  }

  func run() async throws {
    let session = try session()
    if printEvents {
      var generator = EventGenerator(catalogue: session.catalogue, display: session.display, seed: seed)
      for _ in 0..<(count ?? 2000) { print(try generator.next().json()) }
    } else if runsHeadless {
      guard await HeadlessRun(session).run() else { throw ExitCode(1) }
    } else {
      await InteractiveRun(session).run()
    }
  }

  var runsHeadless: Bool { headless || isatty(STDOUT_FILENO) != 1 }
}
