import Concord
import Testing

@Suite("Optimistic layers and shapes")
struct LayersShapesTests {
  let store = EntityStore(delivery: .immediate)

  @Test("A cycle that a layer closes or cuts is as it was when the layer is rolled back")
  func cycles() {
    let ada = store.store(LayerReader(id: 1, name: "Ada", friends: [LayerReader(id: 2, name: "Bo")]))
    let before = ada.value
    let closing = store.optimistically { tx in
      tx.update(LayerReader.self, id: 2) { $0.friends = [LayerReader(id: 3, name: "Cy")] }
      guard let ada = tx.value(LayerReader.self, id: 1) else { return }
      tx.update(LayerReader.self, id: 3) { $0.friends = [ada] }
    }
    #expect(store.value(LayerReader.self, id: 3)?.friends.map(\.name) == ["Ada"])
    store.update(LayerReader.self, id: 1) { $0.name = "Ada!" }
    #expect(store.value(LayerReader.self, id: 3)?.friends.map(\.name) == ["Ada!"])
    closing.commit()
    let closed = (ada.value, store.value(LayerReader.self, id: 3))
    let cutting = store.optimistically { tx in tx.update(LayerReader.self, id: 1) { $0.friends = [] } }
    #expect(ada.value.friends.isEmpty)
    #expect(store.value(LayerReader.self, id: 2) == nil)
    #expect(store._checkInvariants() == [])
    cutting.rollBack()
    #expect(ada.value == closed.0)
    #expect(store.value(LayerReader.self, id: 3) == closed.1)
    store.update(LayerReader.self, id: 3) { $0.friends = [] }
    store.update(LayerReader.self, id: 2) { $0.friends = [] }
    store.update(LayerReader.self, id: 1) { $0.name = "Ada" }
    #expect(ada.value == before)
    #expect(store._checkInvariants() == [])
  }

  @Test("An entity and its projections stay in step, above the base and in it")
  func projections() {
    let whole = store.store(LayerFilm(id: 1, title: "a", text: "long"))
    let part = store.store(LayerFilmRow(id: 1, title: "a"))
    let layer = store.optimistically { tx in tx.update(LayerFilmRow.self, id: 1) { $0.title = "b" } }
    #expect(whole.value == LayerFilm(id: 1, title: "b", text: "long"))
    store.update(LayerFilm.self, id: 1) {
      #expect($0.title == "a")
      $0.title = "c"
      $0.text = "longer"
    }
    #expect(whole.value == LayerFilm(id: 1, title: "b", text: "longer"))
    #expect(part.value.title == "b")
    layer.rollBack()
    #expect(whole.value == LayerFilm(id: 1, title: "c", text: "longer"))
    #expect(part.value.title == "c")
    let second = store.optimistically { tx in tx.update(LayerFilmRow.self, id: 1) { $0.title = "d" } }
    second.commit()
    #expect((whole.value.title, part.value.title) == ("d", "d"))
    #expect(store._checkInvariants() == [])
  }

  @Test("What a wrapper showed elsewhere comes back with the layer, whoever looked at it", arguments: [false, true])
  func reshapedByReading(_ isObserved: Bool) {
    let book = store.store(LayerBook(id: 1, likes: 2))
    let preview = store.store(LayerBook(id: 2, title: "new"))
    let frame = LayerFrame(media: book.value, preview: LayerBook(id: 2, title: "old"))
    let wall = store.store(LayerWall(id: 1, frames: [frame]))
    let subscription = isObserved ? wall.observe { _ in } : nil
    let before = wall.value
    #expect(before.frames[0].preview.title == "old")
    let layer = store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 1 } }
    #expect(wall.value.frames[0].preview == preview.value)
    #expect(store.transaction { _ in wall.value } == before)
    #expect(wall.value.frames[0].preview == preview.value)
    layer.rollBack()
    #expect(wall.value == before)
    #expect(store._checkInvariants() == [])
    subscription?.unsubscribe()
  }

  @Test("Removing everything below a layer leaves what the layer makes")
  func removeAll() {
    let shelf = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1)]))
    let layer = store.optimistically { tx in tx.store(LayerBook(id: 2, likes: 2)) }
    store.removeAll()
    #expect(shelf.isRemoved)
    #expect(store.value(LayerBook.self, id: 2)?.likes == 2)
    #expect(store.count(LayerBook.self) == 1)
    layer.rollBack()
    #expect(store.count(LayerBook.self) == 0)
    #expect(store._checkInvariants() == [])
  }

  @Test("A layer may remove everything, and gives it back")
  func removesAll() {
    let shelf = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1)], best: LayerBook(id: 2)))
    store.store(LayerBook(id: 3), named: .featured)
    let before = shelf.value
    let layer = store.optimistically { $0.removeAll() }
    #expect(store.count(LayerBook.self) == 0)
    store.update(LayerBook.self, id: 1) { $0.likes = 7 }
    #expect(store.count(LayerBook.self) == 0)
    layer.rollBack()
    #expect(shelf.value.books == [LayerBook(id: 1, likes: 7)])
    #expect(shelf.value.best == before.best)
    #expect(store.find(named: .featured).value == LayerBook(id: 3))
    #expect(store._checkInvariants() == [])
  }
}

/// A wrapper whose relations depend on an entity inside of it.
private struct LayerFrame: EntityWrapper, Equatable {
  var media: LayerBook
  var preview: LayerBook

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    let media = PartialIdentifiableKeyPath(parent.appending(path: \.media))
    return self.media.likes % 2 == 0 ? [media] : [media, .init(parent.appending(path: \.preview))]
  }
}

private struct LayerWall: Aggregate, Equatable {
  let id: Int
  var frames: [LayerFrame]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(wrapper: \.frames)] }
}

private struct LayerFilm: Identifiable, Equatable, Sendable {
  let id: Int
  var title: String
  var text: String
}

private struct LayerFilmRow: EntityProjection, Equatable {
  let id: Int
  var title: String

  static var sharedFields: [SharedField<LayerFilmRow, LayerFilm>] { [.init(\.title, \.title)] }
}
