#if Inspector
  import Concord
  import ConcordInspector
  import Foundation
  import Testing

  // The articles "ConcordInspector" and "Why is this still alive?" say what is tested here.

  @MainActor private final class LeakingScreen {
    private(set) var title = ""
    private var subscription: Subscription?

    static let line = #line + 3

    func show(_ author: EntityObserver<Author>) {
      subscription = author.observe { author in self.title = author.name }
    }
  }

  @MainActor private final class SoundScreen {
    private(set) var title = ""
    private var subscription: Subscription?

    func show(_ author: EntityObserver<Author>) {
      subscription = author.observe { [weak self] author in self?.title = author.name }
    }
  }

  @Suite("Why is this still alive?")
  struct ArticleTests {
    @Test("A cycle between an observer's closure and its owner is found by looking")
    func cycle() async throws {
      let store = EntityStore(delivery: .immediate)
      let inspector = try await store.inspect()
      let client = Client(url: inspector.url)
      await MainActor.run {
        LeakingScreen().show(store.store(austen))
        let sound = SoundScreen()
        sound.show(store.store(Author(id: "bronte", name: "Emily Brontë")))
      }
      // What the sound screen looked at is gone; the other one is still looked at, from the line with the cycle.
      #expect(try await client.entities("Author")["items"].list.map { $0["id"].text } == ["austen"])
      let keepers = try await client.entity("Author", "austen")["keepers"]
      #expect(keepers["observers"].list.count == 1)
      let place = keepers["observers"][0]["places"][0]
      #expect(place["file"].text == "ConcordInspectorTests/ArticleTests.swift")
      #expect(place["line"].int == (await LeakingScreen.line))
      #expect(keepers["observers"][0]["line"].text == "the main queue")
      #expect(keepers["holders"].int == 0)
      await inspector.stop()
    }
  }
#endif
