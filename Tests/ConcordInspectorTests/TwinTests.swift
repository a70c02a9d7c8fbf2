#if Inspector
  import Concord
  import ConcordInspector
  import Foundation
  import Testing

  @Suite("Entities that look like each other")
  struct TwinTests {
    private struct Picture: Identifiable, Sendable {
      let id: Data
      let name: String
    }

    private struct Visit: Identifiable, Sendable {
      let id: Date
      let name: String
    }

    private struct Label: Hashable, Sendable, CustomStringConvertible {
      let number: Int
      var description: String { "a label" }
    }

    private struct Parcel: Identifiable, Sendable {
      let id: Label
      let name: String
    }

    private enum Mixed: Hashable, Sendable, CustomStringConvertible {
      case text(String), number(Int)
      var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): "\(number)"
        }
      }
    }

    private struct Anything: Identifiable, Sendable {
      let id: Mixed
      let name: String
    }

    @Test("Each is shown as itself, though their ids have the same text")
    func sameText() async throws {
      let store = EntityStore(delivery: .immediate)
      let kept: [Any] = [
        store.store([Picture(id: Data([1]), name: "a"), Picture(id: Data([2]), name: "b")]),
        store.store([1.25, 1.75].map { Visit(id: Date(timeIntervalSinceReferenceDate: $0), name: "\($0)") }),
        store.store([Parcel(id: Label(number: 1), name: "a"), Parcel(id: Label(number: 2), name: "b")]),
        store.store([Anything(id: .text("1"), name: "a"), Anything(id: .number(1), name: "b")]),
      ]
      try await inspecting(store) { client, _ in
        for (type, names) in [
          "Picture": ["a", "b"], "Visit": ["1.25", "1.75"], "Parcel": ["a", "b"], "Anything": ["a", "b"],
        ] {
          let items = try await client.entities(type)["items"].list
          #expect(items.count == 2)
          var found: [String?] = []
          for item in items {
            let answer = try await client.entity(
              type, item["id"].text ?? "", item["hash"].text.map { ["hash": $0] } ?? [:])
            found.append(answer["value"]["parts"][1]["text"].text)
          }
          #expect(Set(found) == Set(names), "\(type)")
        }
      }
      withExtendedLifetime(kept) {}
    }

    @Test("The same id under two types, and one text in two forms")
    func sameId() async throws {
      struct Town: Identifiable, Sendable {
        let id: String
        let name: String
      }
      let store = EntityStore(delivery: .immediate)
      let town = store.store([Town(id: "austen", name: "town"), Town(id: "e\u{301}/../x", name: "one")])
      let same = store.store(Town(id: "\u{e9}/../x", name: "two"))
      let author = store.store(austen)
      try await inspecting(store) { client, _ in
        let list = try await client.entities("Town")
        #expect(list["total"].int == 2)
        #expect(try await client.entity("Town", "austen")["value"]["parts"][1]["text"].text == "town")
        #expect(try await client.entity("Author", "austen")["value"]["parts"][1]["text"].text == "Jane Austen")
        for id in ["e\u{301}/../x", "\u{e9}/../x"] {
          #expect(try await client.entity("Town", id)["value"]["parts"][1]["text"].text == "two")
        }
      }
      withExtendedLifetime((town, same, author)) {}
    }
  }
#endif
