import Testing

@testable import Concord

@Suite("Stores for short work")
struct ScratchStoresTests {
  private struct Item: Identifiable, Sendable, Equatable {
    let id: Int
    var count = 0
  }

  private func identity(_ store: EntityStore) -> ObjectIdentifier { ObjectIdentifier(store.shared) }

  @Test("A store that was left empty is used again, and is empty")
  func again() {
    let stores = ScratchStores()
    var seen: Set<ObjectIdentifier> = []
    for number in 0..<10 {
      stores.withStore { store in
        seen.insert(identity(store))
        #expect(store.count(Item.self) == 0)
        let held = store.store(Item(id: number))
        let layer = store.optimistically { tx in
          tx.update(Item.self, id: number) { $0.count += 1 }
          _ = tx.store(Item(id: -1))
        }
        #expect(store.all(Item.self).reduce(0) { $0 + $1.count } == 1)
        layer.rollBack()
        withExtendedLifetime(held) {}
      }
    }
    #expect(seen.count == 1)
  }

  @Test("What a closure leaves in a store, or keeps of it, no later closure sees")
  func leftovers() {
    let stores = ScratchStores()
    var kept: [any Sendable] = []
    func use(_ body: (EntityStore) -> Void) {
      stores.withStore { store in
        #expect(store.count(Item.self) == 0 && store.find(named: AliasKey<Item>("one")).value == nil)
        body(store)
      }
    }
    use { kept.append($0.store(Item(id: 1))) }
    use { _ = $0.store(Item(id: 1), named: AliasKey<Item>("one")) }
    use { _ = $0.optimistically { tx in _ = tx.store(Item(id: 1)) } }
    use { kept.append($0) }
    use { kept.append($0.observeChanges { _ in }) }
    use { kept.append($0.observer(all: Item.self).observe { _ in }) }
    use { kept.append($0.observer(Item.self, id: 5)) }
    // A store that was kept is not another closure's.
    use { store in
      let first = kept.compactMap { $0 as? EntityStore }.first
      _ = first?.store(Item(id: 7), named: AliasKey<Item>("one"))
      #expect(store.count(Item.self) == 0)
    }
    withExtendedLifetime(kept) {}
  }

  @Test("Nested use gets another store")
  func nested() {
    let stores = ScratchStores()
    stores.withStore { outer in
      let held = outer.store(Item(id: 1))
      stores.withStore { #expect($0.count(Item.self) == 0) }
      withExtendedLifetime(held) {}
    }
  }
}
