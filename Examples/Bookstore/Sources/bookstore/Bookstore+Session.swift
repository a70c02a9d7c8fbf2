import ArgumentParser
import BookstoreKit
import Foundation

extension Bookstore {
  /// What the options ask for; ends the program with a message when it cannot be had.
  func session() throws -> Session {
    let catalogue = try openCatalogue(catalogue)
    let descriptor = try openEvents()
    let isInvented = descriptor == nil
    return Session(
      shop: try openShop(catalogue),
      events: descriptor.map { LineReader(descriptor: $0) },
      eventsName: events == "-" ? "standard input" : events ?? "invented events",
      seed: seed,
      count: count ?? (isInvented && runsHeadless ? 2000 : nil),
      rate: rate ?? (isInvented && !runsHeadless ? 20 : nil),
      hasLegacy: legacy,
      acknowledges: acknowledge)
  }

  /// Prints what would be invented in a new shop.
  func printInvented() throws {
    let catalogue = try openCatalogue(catalogue)
    guard let display = Display(catalogue, bookID: book) else { throw unknownBook(book ?? "") }
    var generator = EventGenerator(catalogue: catalogue, display: display, seed: seed)
    for _ in 0..<(count ?? 2000) { print(try generator.next().json()) }
  }

  private func openShop(_ catalogue: Catalogue) throws -> Shop {
    let folder = store.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? Place.usual
    do {
      return try Shop(at: store == "memory" ? .memory : .folder(folder), newCatalogue: catalogue, bookID: book)
    } catch ShopError.unknownBook(let id) {
      throw unknownBook(id)
    } catch ShopError.soldOut {
      complain("\(folder.path): all books of this shop were removed; --store opens another one")
      throw ExitCode(73)
    } catch {
      complain("\(folder.path): \(error)")
      throw ExitCode(73)
    }
  }

  private func unknownBook(_ id: Book.ID) -> ValidationError {
    ValidationError("--book: there is no book \"\(id)\" in the catalogue.")
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
}
