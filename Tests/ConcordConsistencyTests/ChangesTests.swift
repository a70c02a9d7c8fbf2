import ConcordConsistency
import Foundation
import Testing

@Suite("Which objects a merge changed can be asked")
struct ChangesTests {
  private let videos = [
    Video("v", "Video", user: User("u", "Ada", badge: Badge(id: "b", title: "Badge"))),
    Video("w", "Other", user: User("x", "Bo")),
  ]

  @Test("The changed object and all that contain it, and no other")
  func parents() {
    let newer = videos.updated(with: Badge(id: "b", title: "new"))
    let changes = newer.changes(from: videos)
    #expect(changes.updated.map(\.id) == ["v", "u", "b"])
    #expect(changes.updated.compactMap { ($0 as? Badge)?.title } == ["new"])
    #expect(changes.inserted.isEmpty && changes.removed.isEmpty && !changes.isEmpty)
    #expect(newer.map { changes.contains($0) } == [true, false])
    #expect(videos.changes(from: videos).isEmpty)
  }

  @Test("Objects that came with a new state, and objects that went, with the parents that are left")
  func insertedAndRemoved() {
    let came = videos.updated(with: User("x", "Bo", badge: Badge(id: "c", title: "Come")))
    #expect(came.changes(from: videos).inserted.map(\.id) == ["c"])
    #expect(came.changes(from: videos).updated.map(\.id) == ["w", "x"])
    let left = videos.updated(with: ConsistentBatch([], removing: [User("u", "")]))
    let changes = left.changes(from: videos)
    #expect(changes.removed.map(\.id) == ["u", "b"])
    #expect(changes.updated.map(\.id) == ["v"])
    #expect(changes.contains(User("u", "")) && !changes.contains(User("x", "")))
  }

  @Test("A type and an id make an object, and fields count that are not listed")
  func identity() {
    let older: [any ConsistentObject] = [User("1", "Ada"), Badge(id: "1", title: "Badge")]
    let newer: [any ConsistentObject] = [User("1", "Ada"), Badge(id: "1", title: "new")]
    let changes = newer.changes(from: older)
    #expect(changes.updated.count == 1 && changes.contains(Badge(id: "1", title: "")))
    #expect(!changes.contains(User("1", "")))
  }

  @Test("Instances that refer to each other, and diamonds, come to an end")
  func cycles() {
    let (first, second) = (Ring("1"), Ring("2"))
    (first.next, second.next) = (second, first)
    #expect([first].changes(from: []).inserted.map(\.id) == ["1", "2"])
    var folder = Nested(id: "0", inside: [])
    for layer in 1..<40 { folder = Nested(id: "\(layer)", inside: [folder, folder]) }
    #expect([folder].changes(from: []).inserted.count == 40)
  }

  private final class Ring: ConsistentObject, @unchecked Sendable {
    let id: String
    var next: Ring?

    init(_ id: String) { self.id = id }

    var properties: [Property] { [("next", next)] }

    func setting(property: Property) -> Self { self }
  }

  private struct Nested: ConsistentObject {
    let id: String
    var inside: [Nested]

    var properties: [Property] { [("inside", inside)] }

    func setting(property: Property) -> Nested { self }
  }
}
