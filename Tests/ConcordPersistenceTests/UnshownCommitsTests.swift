import Concord
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Commits that a view cannot read")
struct UnshownCommitsTests {
  @Test("A commit that could not be read is shown as soon as it can be, and its error is told once")
  func shownLater() async throws {
    let rows = CountingStore()
    let coordinator = PersistentStoreCoordinator(model: try Model("Library", entities: [Review.self]))
    try coordinator.attach(rows, configuration: "")
    let errors = Locked(0)
    let view = ViewContext(parent: coordinator, delivery: .immediate) { _ in errors.withLock { $0 += 1 } }
    let list = try view.query(FetchDescriptor<Review>())
    let context = coordinator.newContext()
    context.insert(Review(id: 1, text: "first"))
    try context.save()
    let review = try #require(try view.find(Review.self, id: 1))
    coordinator.settle()
    #expect(list.value.map(\.text) == ["first"])
    let entity = try coordinator.model.entity(Review.self)
    let row = try entity.row(of: Review(id: 1, text: "second"), stamp: context.nextStamp())
    rows.isUnreadable.withLock { $0 = true }
    // As another process does.
    _ = try rows.inner.write(origin: nil) { try $0.insertOrReplaceOlder(row, for: EntityKey(entity, .integer(1))) }
    coordinator.settle()
    // It is tried again, and fails again.
    try await Task.sleep(for: .milliseconds(1500))
    #expect(list.value.map(\.text) == ["first"] && errors.withLock { $0 } == 1)
    rows.isUnreadable.withLock { $0 = false }
    #expect(try await eventually { list.value.map(\.text) == ["second"] && review.value.text == "second" })
    #expect(errors.withLock { $0 } == 1)
  }

  @Test("While a store that could not be read does not answer, nobody waits for the view who needs none of its rows")
  func unanswered() async throws {
    let rows = CountingStore()
    let coordinator = PersistentStoreCoordinator(model: try Model("Library", entities: [Review.self]))
    try coordinator.attach(rows, configuration: "")
    let view = ViewContext(parent: coordinator, delivery: .immediate) { _ in }
    let list = try view.query(FetchDescriptor<Review>())
    let entity = try coordinator.model.entity(Review.self)
    let row = try entity.row(of: Review(id: 1, text: "first"), stamp: 1)
    rows.isUnreadable.withLock { $0 = true }
    _ = try rows.inner.write(origin: nil) { try $0.insert(row, for: EntityKey(entity, .integer(1))) }
    coordinator.settle()
    let gate = DispatchSemaphore(value: 0)
    rows.gate.withLock { $0 = gate }
    rows.isUnreadable.withLock { $0 = false }
    // It is tried again.
    #expect(try await eventually { rows.waiting.withLock { $0 } == 1 })
    let isDone = Locked(false)
    Thread.detachNewThread {
      view.store.transaction { _ in }
      if !view.hasChanges { isDone.withLock { $0 = true } }
    }
    #expect(try await eventually { isDone.withLock { $0 } })
    #expect(list.value.isEmpty)
    rows.gate.withLock { $0 = nil }
    gate.signal()
    #expect(try await eventually { list.value.map(\.text) == ["first"] })
  }
}
