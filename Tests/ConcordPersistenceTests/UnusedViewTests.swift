import Concord
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("A view that nobody has used")
struct UnusedViewTests {
  @Test("Commits wake no thread for a view until it is used, and are told from then on")
  func wakes() throws {
    let coordinator = PersistentStoreCoordinator(model: try Model("Library", entities: [Review.self]))
    try coordinator.attach(MemoryStore(name: "memory"), configuration: "")
    let (wanted, told) = (Locked(false), Locked(0))
    let observation = coordinator.observeChanges {
      wanted.withLock { $0 }
    } _: { _ in
      told.withLock { $0 += 1 }
    }
    func save(_ text: String) throws {
      let context = coordinator.newContext()
      context.insert(Review(id: 1, text: text))
      try context.save()
      coordinator.settle()
    }
    try save("a")
    #expect(told.withLock { $0 } == 0 && coordinator.announcedChanges.isEmpty)
    wanted.withLock { $0 = true }
    try save("b")
    #expect(told.withLock { $0 } == 1)
    withExtendedLifetime(observation) {}
  }

  @Test("A view that is first used while another thread saves shows the last save", arguments: StoreKind.allCases)
  func firstUse(_ kind: StoreKind) throws {
    for round in 0..<20 {
      try kind.withCoordinator(try Model("Library", entities: [Review.self])) { coordinator in
        let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record("\($0)") }
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          let context = coordinator.newContext()
          for number in 0..<20 {
            context.insert(Review(id: 1, text: "\(number)"))
            do { try context.save() } catch { Issue.record(error) }
          }
          isDone.signal()
        }
        var review: EntityObserver<Review>?
        while review == nil { review = try view.find(Review.self, id: 1) }
        isDone.wait()
        coordinator.settle()
        #expect(review?.value.text == "19", "round \(round)")
      }
    }
  }

  @Test("What is put into the store of a view that was not used is kept up to date", arguments: StoreKind.allCases)
  func storedDirectly(_ kind: StoreKind) throws {
    try kind.withCoordinator(try Model("Library", entities: [Review.self])) { coordinator in
      let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record("\($0)") }
      let review = view.store.store(Review(id: 1, text: "shown"))
      let context = coordinator.newContext()
      context.insert(Review(id: 1, text: "saved"))
      try context.save()
      coordinator.settle()
      #expect(review.value.text == "saved")
    }
  }
}
