import BookstoreKit
import BookstoreShared
package import ConcordSync
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

  package let storefront: Storefront
  private let said: Decisions
  private let telling: Task<Void, Never>

  /// - Parameters:
  ///   - output: the descriptor of the file to which it says everything.
  ///   - showsRows: whether it says each state whole.
  ///   - open: a closure that opens the customer's store, and passes on what stands in front of the file.
  package init(
    output: Int32, showsRows: Bool,
    open: (_ recording: @escaping (any RowStore, Model) throws -> any RowStore) throws -> Storefront
  ) throws {
    let file = LineFile(descriptor: output)
    let last = Mutex<Line?>(nil)
    let known = Mutex(KnownRows())
    storefront = try open { store, model in
      StateStore(store) { reading in
        // What cannot be read is not said; the store tells the error to whoever reads it for another reason.
        let read = try? known.withLock { try Line(reading, model, showsRows: showsRows, &$0) }
        guard let line = read, line.position != nil else { return }
        let isNew = last.withLock { last in
          defer { last = line }
          return !line.isSame(as: last)
        }
        if isNew { Self.say(line, file) }
      }
    }
    let said = Decisions(file)
    self.said = said
    let events = storefront.connect.outbox.events
    // What an earlier process has queued, or heard of, it may not have said.
    for entry in storefront.connect.outbox.pending { said.queue(entry.key.rawValue, entry.name) }
    for letter in storefront.connect.outbox.deadLetters { said.decide(letter) }
    telling = Task {
      for await event in events {
        switch event {
        case .accepted(let entry): said.accept(entry.key.rawValue)
        case .refused(let letter): said.decide(letter)
        default: break
        }
      }
    }
  }

  fileprivate static func say(_ line: Line, _ file: LineFile) { try? file.write(line) }

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
    said.queue(key.rawValue, type(of: action).name)
  }

  /// Waits until all is decided, and what the server had by then is shown and said.
  package func finish() async throws {
    try await storefront.sync.checkpoint()
    telling.cancel()
    await telling.value
    // The reader may have been behind, and the outbox keeps a number of events for it.
    let outbox = storefront.connect.outbox
    for letter in outbox.deadLetters { said.decide(letter) }
    said.acceptAll(except: Set(outbox.pending.map(\.key.rawValue)))
  }
}

/// The actions that were queued, and those whose decisions are said, each once.
private final class Decisions: Sendable {
  private struct State {
    var queued: [String] = []
    var decided: Set<String> = []
  }

  private let file: LineFile
  private let state = Mutex(State())

  init(_ file: LineFile) { self.file = file }

  func queue(_ key: String, _ action: String) {
    state.withLock { $0.queued.append(key) }
    Machine.say(.init(queued: key, action: action), file)
  }

  func accept(_ key: String) { decide(.init(decided: key, isAccepted: true), key) }

  func decide(_ letter: DeadLetter) { decide(.init(letter), letter.key.rawValue) }

  /// Says of all that were queued and not refused that they were accepted, but for those that are pending.
  func acceptAll(except pending: Set<String>) {
    for key in state.withLock({ $0.queued }) where !pending.contains(key) { accept(key) }
  }

  private func decide(_ line: Machine.Line, _ key: String) {
    if state.withLock({ $0.decided.insert(key).inserted }) { Machine.say(line, file) }
  }
}

/// The rows of the last state, so that only those are made texts again that have changed.
private struct KnownRows {
  var rows: [EntityKey: (row: StoredRow, record: RowRecord, text: [UInt8])] = [:]
  var digest: String?

  mutating func read(_ reading: any RowReading, _ model: Model) throws {
    var found: [EntityKey: (row: StoredRow, record: RowRecord, text: [UInt8])] = [:]
    var isSame = true
    try RowRecord.each(reading, model) { key, row in
      if let known = rows[key], known.row == row { return found[key] = known }
      let record = RowRecord(key, row)
      found[key] = (row, record, Array(record.text.utf8))
      isSame = false
    }
    if isSame, found.count == rows.count, digest != nil { return }
    (rows, digest) = (found, RowRecord.digest(texts: found.values.map(\.text)))
  }
}

extension Machine.Line {
  init(_ letter: DeadLetter) {
    self.init(decided: letter.key.rawValue, isAccepted: false, reason: letter.reason)
  }

  /// The state of a device's file.
  fileprivate init(_ reading: any RowReading, _ model: Model, showsRows: Bool, _ known: inout KnownRows) throws {
    position = try reading.note(NoteName("sync", "position"))
    // Its first state is whole when the subscriptions are known.
    try reading.notes(in: "sync.subscriptions", after: nil) { _, state in
      if !state.hasPrefix("known ") { position = nil }
      return true
    }
    let outbox = try reading.outbox(after: nil).rows
    pending = outbox.filter { $0.state == .pending }.map(\.key)
    try known.read(reading, model)
    digest = known.digest
    if showsRows { rows = known.rows.values.map(\.record) }
  }

  func isSame(as other: Machine.Line?) -> Bool {
    position == other?.position && pending == other?.pending && digest == other?.digest
  }
}
