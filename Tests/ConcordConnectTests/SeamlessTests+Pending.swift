import Concord
import ConcordTestShared
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

extension SeamlessTests {
  /// A type of strategy, as an argument of a test.
  enum Strategy: CaseIterable {
    case direct, directIndependent, indirectNested, mixed

    func connect(
      _ kind: StoreKind, _ folder: URL, _ transport: ScriptedTransport
    ) async throws -> any Connect {
      func connect<S: ContextStrategyType>(_ strategy: S.Type) async throws -> any Connect {
        let connect = GenericConnect<S>(
          name: "Library", model: try libraryModel(), transport: transport,
          forwarding: [Raise.self, AddBook.self, RemoveBook.self], outboxPolicy: OutboxPolicy(dependents: .goOn))
        try connect.attachPersistentStore(at: folder, for: kind.configuration(folder))
        connect.suspended = true
        try await connect.start()
        return connect
      }
      return switch self {
      case .direct: try await connect(ContextStrategy.Direct.self)
      case .directIndependent: try await connect(ContextStrategy.DirectIndependent.self)
      case .indirectNested: try await connect(ContextStrategy.IndirectNested.self)
      case .mixed: try await connect(ContextStrategy.Mixed.self)
      }
    }

    static var combinations: [(StoreKind, Strategy)] {
      StoreKind.allCases.flatMap { kind in allCases.map { (kind, $0) } }
    }
  }

  /// Of one book, what the view has changed, what others store, and what is forwarded: three that never change the same property.
  @Test(
    "What is accepted, refused and stored by others moves nothing of what the view has pending",
    arguments: Strategy.combinations)
  func pendingInView(_ kind: StoreKind, _ strategy: Strategy) async throws {
    let first = UInt64.random(in: 0..<1_000_000)
    for seed in first..<first + UInt64(kind.share(of: 4)) {
      try await withFolder { folder in
        let refused = Locked<Set<String>>([])
        let transport = ScriptedTransport { request in
          let key = request.headers["Idempotency-Key"] ?? ""
          return TransportResponse(status: refused.withLock { $0.contains(key) } ? 422 : 204)
        }
        var connect = try await strategy.connect(kind, folder, transport)
        try connect.store([Book(id: 1, title: ""), Book(id: 2, title: "")])
        connect.persistentStoreCoordinator.settle()
        var generator = SeededNumbers(seed: seed)
        var log: [String] = []
        var stored = Book(id: 1, title: "")
        var pending: [(note: String, isRefused: Bool)] = []
        var (saved, unsaved): (Int?, Int?)
        var observer = try #require(try connect.viewContext.find(Book.self, id: 1))
        for step in 0..<40 {
          switch Int.random(in: 0..<16, using: &generator) {
          case 0..<4:
            let isRefused = Int.random(in: 0..<3, using: &generator) == 0
            log.append("forward \(step), which is \(isRefused ? "refused" : "accepted")")
            let entry = try await connect.forward(Raise(book: 1, note: "\(step),"))
            if isRefused { refused.withLock { _ = $0.insert(entry.key.rawValue) } }
            pending.append(("\(step),", isRefused))
          case 4..<7:
            log.append("the view changes the shelf to \(step)")
            try connect.viewContext.update(Book.self, id: 1) { $0.shelf = step }
            unsaved = step
          case 7, 8:
            log.append("the view saves")
            try connect.viewContext.save()
            (saved, unsaved) = (unsaved ?? saved, nil)
          case 9:
            log.append("the view rolls back")
            connect.viewContext.rollback()
            unsaved = nil
          case 10, 11:
            log.append("others edit")
            stored.isEdited.toggle()
            let context = BackgroundContext(parent: connect.persistentStoreCoordinator)
            try context.update(Book.self, id: 1) { $0.isEdited = stored.isEdited }
            try context.save()
          case 12 where kind != .memory:
            log.append("restart")
            try await connect.flush()
            try await connect.stop()
            for store in connect.persistentStores { try connect.detach(persistentStore: store) }
            unsaved = nil
            connect = try await strategy.connect(kind, folder, transport)
            observer = try #require(try connect.viewContext.find(Book.self, id: 1))
          case 13:
            log.append("flush")
            try await connect.flush()
          default:
            log.append("send")
            connect.suspended = false
            await connect.outbox.idle()
            connect.suspended = true
            for action in pending where !action.isRefused {
              stored.title += action.note
              stored.price += 1
            }
            pending = []
          }
          connect.persistentStoreCoordinator.settle()
          var expected = stored
          expected.title += pending.map(\.note).joined()
          expected.price += Double(pending.count)
          expected.shelf = unsaved ?? saved ?? 0
          let isFollowed = strategy != .directIndependent
          let before = observer.value
          let found = try connect.viewContext.find(Book.self, id: 1)?.value
          guard found == expected, !isFollowed || before == expected else {
            let what = "\(before), then \(found as Any), not \(expected)"
            Issue.record("seed \(seed): \(what)\n\(log.joined(separator: "\n"))")
            break
          }
        }
        try connect.viewContext.save()
        try await connect.flush()
        #expect(try connect.stored(Book.self).first { $0.id == 1 }?.shelf == unsaved ?? saved ?? 0, "seed \(seed)")
        try await connect.stop()
      }
    }
  }

  @Test("Of a property that the view and an action have changed the view keeps its own above, and the save decides")
  func sameProperty() async throws {
    for strategy in Strategy.allCases {
      for policy in [MergePolicy.byStamp, .objectTrump, .storeTrump, .error] {
        try await withFolder { folder in
          let connect = try await strategy.connect(.memory, folder, ScriptedTransport())
          try connect.store([Book(id: 1, title: "")])
          connect.persistentStoreCoordinator.settle()
          let view = connect.viewContext
          view.mergePolicy = policy
          let book = try #require(try view.find(Book.self, id: 1))
          try await connect.forward(Raise(book: 1, note: "a"))
          try view.update(Book.self, id: 1) { $0.title = "own" }
          #expect(book.value.title == "owna")
          connect.suspended = false
          await connect.outbox.idle()
          // Until it is saved, it is shown.
          #expect(book.value == Book(id: 1, title: "own", price: 1), "\(strategy) \(policy)")
          if policy == .error {
            #expect(throws: StoreError.self) { try view.save() }
            view.rollback()
          } else {
            try view.save()
          }
          try await connect.flush()
          // What was accepted is as fresh as its acceptance.
          let last = Book(id: 1, title: policy == .objectTrump ? "own" : "a", price: 1)
          #expect(try book.value == last && connect.stored(Book.self) == [last], "\(strategy) \(policy)")
          try await connect.stop()
        }
      }
    }
  }

  @Test("A view that is saved while its action is sent loses nothing", arguments: Strategy.combinations)
  func savedMeanwhile(_ kind: StoreKind, _ strategy: Strategy) async throws {
    for isRefused in [false, true] {
      try await withFolder { folder in
        let sending = Locked<(@Sendable () throws -> Void)?>(nil)
        let transport = ScriptedTransport { _ in
          try? sending.withLock { $0 }?()
          return TransportResponse(status: isRefused ? 409 : 204)
        }
        let connect = try await strategy.connect(kind, folder, transport)
        try connect.store([Book(id: 1, title: ""), Book(id: 2, title: "")])
        connect.persistentStoreCoordinator.settle()
        let view = connect.viewContext
        let (first, second) = (
          try #require(try view.find(Book.self, id: 1)), try #require(try view.find(Book.self, id: 2))
        )
        try await connect.forward(Raise(book: 1, note: "a"))
        try view.update(Book.self, id: 1) { $0.title = "own " }
        sending.withLock {
          $0 = {
            try view.update(Book.self, id: 1) { $0.shelf = 5 }
            try view.delete(Book.self, id: 2)
            view.insert(Book(id: 3, title: "new"))
            try view.save()
          }
        }
        connect.suspended = false
        #expect(try await eventually { connect.outbox.pending.isEmpty })
        try await connect.flush()
        connect.persistentStoreCoordinator.settle()
        let last = Book(id: 1, title: isRefused ? "own " : "own a", price: isRefused ? 0 : 1, shelf: 5)
        #expect(first.value == last && second.isRemoved, "\(strategy)")
        let stored = try connect.stored(Book.self).sorted { $0.id < $1.id }
        #expect(stored == [last, Book(id: 3, title: "new")], "\(strategy)")
        try await connect.stop()
      }
    }
  }

  @Test("A dead letter goes from above what the view has pending of the same property", arguments: Strategy.allCases)
  func refusedAbove(_ strategy: Strategy) async throws {
    try await withFolder { folder in
      let transport = ScriptedTransport { _ in TransportResponse(status: 422) }
      let connect = try await strategy.connect(.memory, folder, transport)
      try connect.store([Book(id: 1, title: "")])
      connect.persistentStoreCoordinator.settle()
      let view = connect.viewContext
      let book = try #require(try view.find(Book.self, id: 1))
      try view.update(Book.self, id: 1) { $0.title = "own " }
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(book.value.title == "own a")
      connect.suspended = false
      #expect(try await eventually { !connect.outbox.deadLetters.isEmpty && book.value.title == "own " })
      view.rollback()
      #expect(book.value == Book(id: 1, title: ""))
      try view.update(Book.self, id: 1) { $0.title = "second " }
      connect.suspended = true
      let letter = try #require(connect.outbox.deadLetters.first)
      #expect(connect.outbox.retry(letter))
      #expect(try await eventually { book.value.title == "second a" && book.value.price == 1 })
      try view.save()
      connect.suspended = false
      #expect(try await eventually { !connect.outbox.deadLetters.isEmpty && book.value.price == 0 })
      try await connect.flush()
      #expect(try book.value.title == "second " && connect.stored(Book.self) == [Book(id: 1, title: "second ")])
      try await connect.stop()
    }
  }
}
