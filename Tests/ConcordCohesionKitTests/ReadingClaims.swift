import ConcordCohesionKit
import Dispatch
import Foundation
import Testing

private func generic<T: Identifiable & Sendable>(_ alias: AliasKey<T>, in store: EntityStore) -> EntityObserver<T?> {
  store.find(named: alias)
}

private func generic<C: Collection & Sendable>(_ alias: AliasKey<C>, in store: EntityStore) -> EntityObserver<C?>
where C.Element: Identifiable & Sendable { store.find(named: alias) }

extension GuideTests {
  static let reading: [Claim] = [
    Claim("`find(Book.self, id:)`") {
      let store = EntityStore(delivery: .immediate)
      #expect(store.find(Book.self, id: "emma") == nil)
      let book: EntityObserver<Book> = store.store(emma)
      let found: EntityObserver<Book>? = store.find(Book.self, id: "emma")
      store.transaction { tx in
        tx.update(Book.self, id: "emma") { $0.title = "1" }
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
          if !Thread.isMainThread, thread == 1 { _ = store.value(Book.self, id: "emma") }
        }
        let other = Received<String?>()
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          other.append(found?.value.title)
          done.signal()
        }
        done.wait()
        #expect(other.all == ["Emma"])
      }
      #expect(found?.value.title == "1")
      withExtendedLifetime(book) {}
    },
    Claim("`find(Book.self, id:)?.value`") {
      let store = EntityStore(delivery: .immediate)
      #expect(store.value(Book.self, id: "emma") == nil)
      let book = store.store(emma)
      #expect(store.value(Book.self, id: "emma") == book.value)
    },
    Claim("– `observer(Book.self, id:)`") {
      let store = EntityStore(delivery: .immediate)
      let received = Received<String?>()
      let subscription = store.observer(Book.self, id: "emma").observe { received.append($0?.title) }
      store.store(emma)
      store.remove(Book.self, id: "emma")
      #expect(received.all == [nil, "Emma", nil])
      subscription.unsubscribe()
    },
    Claim("`find(named: .currentUser)`") {
      let store = EntityStore(delivery: .immediate)
      let observer: EntityObserver<Book?> = store.find(named: .featured)
      let received = Received<String?>()
      let subscription = observer.observe { received.append($0?.title) }
      store.store(emma, named: .featured)
      store.store(persuasion, named: .featured)
      #expect(received.all == [nil, "Emma", "Persuasion"])
      subscription.unsubscribe()
    },
    Claim("`find(named:)` in generic code") {
      let store = EntityStore(delivery: .immediate)
      let one = generic(AliasKey<Book>.featured, in: store)
      let many = generic(AliasKey<[Book]>.favourites, in: store)
      store.store(emma, named: .featured)
      store.store([emma, persuasion], named: .favourites)
      store.store(Set([emma]), named: .shelf)
      #expect(one.value == emma)
      #expect(many.value == [emma, persuasion])
      #expect(generic(AliasKey<Set<Book>>.shelf, in: store).value == [emma])
    },
    Claim("`observer.value`, a snapshot") {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      store.update(Book.self, id: "emma") { $0.title = "1" }
      #expect(book.value.title == "1")
      #expect(!book.isRemoved)
      store.remove(Book.self, id: "emma")
      #expect(book.isRemoved)
    },
  ]
}
