import BookstoreKit
import BookstoreShared
import ConcordSync
import Foundation
import Synchronization

/// A customer that is a machine, and says all that it does and shows, so that anybody can compare it with what the server has committed.
package final class Machine: Sendable {
  /// A line of what it says.
  fileprivate struct Line: Encodable {
    /// The key of an action that is in the file, and will reach the server.
    var queued: String?
    var action: String?
    /// The key of an action that the server has decided.
    var decided: String?
    var isAccepted: Bool?
    var reason: String?
    /// The position of the server's feed that is shown, below the actions that are pending.
    var position: String?
    var pending: [String]?
    var digest: String?
    var rows: [RowRecord]?
  }

  private let storefront: Storefront
  private let output: LineFile
  private let showsRows: Bool
  private let telling: [Task<Void, Never>]
  private let states: AsyncStream<Void>.Continuation
  private let observation: StoreObservation?

  /// - Parameters:
  ///   - output: the descriptor of the file to which it says everything.
  ///   - showsRows: whether it says each state whole.
  package init(_ storefront: Storefront, output: Int32, showsRows: Bool) {
    let file = LineFile(descriptor: output)
    (self.storefront, self.output, self.showsRows) = (storefront, file, showsRows)
    let events = storefront.connect.outbox.events
    let (commits, states) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.states = states
    let rows = storefront.connect.persistentStoreCoordinator.persistentStores.first?.rows
    observation = rows?.observeCommits { _ in states.yield() }
    states.yield()
    // What an earlier process has queued, or heard of, it may not have said.
    for entry in storefront.connect.outbox.pending {
      Self.say(.init(queued: entry.key.rawValue, action: entry.name), file)
    }
    for letter in storefront.connect.outbox.deadLetters { Self.say(.init(letter), file) }
    telling = [
      Task {
        for await event in events {
          switch event {
          case .accepted(let entry): Self.say(.init(decided: entry.key.rawValue, isAccepted: true), file)
          case .refused(let letter): Self.say(.init(letter), file)
          default: break
          }
        }
      },
      Task { [model = storefront.connect.model] in
        var last: Line?
        for await _ in commits {
          guard let rows, let line = try? rows.read({ try Line($0, model, showsRows: showsRows) }) else { continue }
          if line.position == nil || line.isSame(as: last) { continue }
          Self.say(line, file)
          last = line
        }
      },
    ]
  }

  private static func say(_ line: Line, _ file: LineFile) { try? file.write(line) }

  /// Forwards actions that are drawn by chance.
  package func act(_ count: Int, seed: UInt64) async throws {
    if count == 0 { return }
    try await storefront.sync.subscribe("books").ready()
    let books = try storefront.firstBooks(20)
    var random = SeededGenerator(seed: seed)
    for number in 0..<count {
      let book = books[Int.random(in: 0..<books.count, using: &random)]
      let stars = Int.random(in: 1...5, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        // The server refuses it.
        try await forward(AddToCart(customer: "somebodyelse", book: book.id, title: book.title))
      case 1, 2: try await forward(RenameAuthor(author: book.author.id, newName: "Name \(seed).\(number)"))
      case 3, 4: try await forward(storefront.review(book, stars: stars, text: "Text \(seed).\(number)"))
      default: try await forward(storefront.addToCart(book))
      }
      try await Task.sleep(for: .milliseconds(Int.random(in: 0...20, using: &random)))
    }
  }

  private func forward(_ action: some ShopAction) async throws {
    let key = try await storefront.forward(action)
    Self.say(Line(queued: key.rawValue, action: type(of: action).name), output)
  }

  /// Waits until all is decided, and what the server had by then is shown and said.
  package func finish() async throws {
    try await storefront.sync.checkpoint()
    states.yield()
    states.finish()
    await telling[1].value
    // The outbox has said all before it is idle; its reader may be behind.
    try await Task.sleep(for: .milliseconds(100))
    telling[0].cancel()
  }
}

extension Machine.Line {
  init(_ letter: DeadLetter) {
    self.init(decided: letter.key.rawValue, isAccepted: false, reason: letter.reason)
  }

  /// The state of a device's file.
  init(_ reading: any RowReading, _ model: Model, showsRows: Bool) throws {
    position = try reading.note(NoteName("sync", "position"))
    // Its first state is whole when the subscriptions are known.
    try reading.notes(in: "sync.subscriptions", after: nil) { _, state in
      if !state.hasPrefix("known ") { position = nil }
      return true
    }
    let outbox = try reading.outbox(after: nil).rows
    pending = outbox.filter { $0.state == .pending }.map(\.key)
    let rows = try RowRecord.all(reading, model)
    digest = RowRecord.digest(rows)
    if showsRows { self.rows = rows }
  }

  func isSame(as other: Machine.Line?) -> Bool {
    position == other?.position && pending == other?.pending && digest == other?.digest
  }
}
