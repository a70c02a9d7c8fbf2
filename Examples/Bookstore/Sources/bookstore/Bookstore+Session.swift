import ArgumentParser
import BookstoreKit
import Foundation

extension Bookstore {
  /// What the options ask for; ends the program with a message when it cannot be had.
  func session() throws -> Session {
    let catalogue = try openCatalogue()
    guard let display = Display(catalogue, bookID: book) else {
      throw ValidationError("--book: there is no book \"\(book ?? "")\" in the catalogue.")
    }
    let descriptor = try openEvents()
    let isInvented = descriptor == nil
    return Session(
      catalogue: catalogue,
      display: display,
      events: descriptor.map { LineReader(descriptor: $0) },
      eventsName: events == "-" ? "standard input" : events ?? "invented events",
      seed: seed,
      count: count ?? (isInvented && runsHeadless ? 2000 : nil),
      rate: rate ?? (isInvented && !runsHeadless ? 20 : nil),
      hasLegacy: legacy)
  }

  private func openCatalogue() throws -> Catalogue {
    do {
      return try Catalogue.open(catalogue)
    } catch {
      complain("\(error)")
      switch error {
      case .malformed: throw ExitCode(65)
      case .unreadable: throw ExitCode(66)
      }
    }
  }

  private func openEvents() throws -> Int32? {
    guard let events else { return nil }
    if events == "-" { return STDIN_FILENO }
    let descriptor = open(events, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      complain("\(events): \(String(cString: strerror(errno)))")
      throw ExitCode(66)
    }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      complain("\(events): \(String(cString: strerror(EISDIR)))")
      throw ExitCode(66)
    }
    return descriptor
  }

  private func complain(_ text: String) { FileHandle.standardError.write(Data("bookstore: \(text)\n".utf8)) }
}
