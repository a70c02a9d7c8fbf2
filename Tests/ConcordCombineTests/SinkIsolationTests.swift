#if canImport(Combine) || OpenCombine
  import Concord
  import ConcordCombine
  import Dispatch
  import Testing

  // Imported here, as files with Combine do: that makes the compiler check where its closures are called.
  #if canImport(Combine)
    import Combine
  #else
    import OpenCombine
  #endif

  @Suite("The thread on which the closure of a sink is called")
  struct SinkIsolationTests {
    @Test("One written in main-actor code ends the process if a store without a queue calls it on another thread")
    func mainActor() async {
      await #expect(processExitsWith: .failure) {
        let screen = await MainActor.run { Screen(EntityStore(delivery: .immediate)) }
        await screen.writeElsewhere()
      }
    }

    @Test("One that is @Sendable is called on the writing thread")
    func sendable() async {
      await #expect(processExitsWith: .success) {
        let screen = await MainActor.run { Screen(EntityStore(delivery: .immediate), isSendable: true) }
        await screen.writeElsewhere()
        precondition(screen.titles.all == ["Ema", "Emma"])
      }
    }

    @Test("With the main queue, one written in main-actor code is called on the main actor")
    func mainQueue() async {
      await #expect(processExitsWith: .success) {
        let store = EntityStore()
        let screen = await MainActor.run { Screen(store) }
        await screen.writeElsewhere()
        await store.settled()
        precondition(screen.titles.all == ["Ema", "Emma"])
      }
    }

    @MainActor private final class Screen {
      let titles = Received<String>()
      private let store: EntityStore
      private let cancellable: AnyCancellable

      init(_ store: EntityStore, isSendable: Bool = false) {
        self.store = store
        let titles = titles
        let publisher = store.store(Book(id: "a", title: "Ema")).asPublisher
        if isSendable {
          cancellable = publisher.sink { @Sendable book in titles.append(book.title) }
        } else {
          cancellable = publisher.sink { book in titles.append(book.title) }
        }
      }

      nonisolated func writeElsewhere() async {
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async { [store] in
            store.update(Book.self, id: "a") { $0.title = "Emma" }
            continuation.resume()
          }
        }
      }
    }
  }
#endif
