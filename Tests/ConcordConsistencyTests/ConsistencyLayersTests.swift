import Concord
import ConcordConsistency
import Testing

/// An owner that shows a user, and may push what it shows whenever that changes.
private final class Screen: ConsistentEnvironment, @unchecked Sendable {
  var user: LayeredUser
  var echoes: ConsistencyManager?
  var calls = 0
  init(_ user: LayeredUser) { self.user = user }
  var objects: [any ConsistentObject] { [user] }
  func update(with object: any ConsistentObject) {
    calls += 1
    user = user.updated(with: object)
    if calls < 100 { echoes?.pushUpdatedObject(user) }
  }
}

private struct LayeredUser: ConsistentObject, Identifiable, Equatable {
  let id: String
  var name = ""
  var likes = 0
  var properties: [Property] { [] }
  func setting(property: Property) -> LayeredUser { self }
}

@Suite("Owners, and a store with optimistic layers")
struct ConsistencyLayersTests {
  private let store = EntityStore(delivery: .immediate)
  private let manager = ConsistencyManager()
  private let screen = Screen(LayeredUser(id: "ada"))

  init() {
    manager.register(store)
    manager.register(screen)
  }

  private func like() -> OptimisticLayer {
    store.optimistically { tx in tx.update(LayeredUser.self, id: "ada") { $0.likes += 1 } }
  }

  @Test("Owners show what a layer shows, and what is there when it has ended")
  func shown() {
    let user = store.store(LayeredUser(id: "ada"))
    let layer = like()
    #expect(screen.user.likes == 1)
    manager.pushUpdatedObject(LayeredUser(id: "ada", name: "Ada", likes: 5))
    #expect(user.value == LayeredUser(id: "ada", name: "Ada", likes: 6))
    layer.rollBack()
    #expect(user.value.likes == 5 && screen.user == user.value)
  }

  @Test("What an owner pushes back of what a layer shows is taken back with the layer")
  func echoed() {
    let user = store.store(LayeredUser(id: "ada"))
    screen.echoes = manager
    let layer = like()
    #expect(user.value.likes == 1 && screen.user.likes == 1)
    layer.rollBack()
    #expect(user.value.likes == 0 && screen.user.likes == 0)
    let second = like()
    manager.pushUpdatedObject(LayeredUser(id: "ada", likes: 5))
    #expect(user.value.likes == 6)
    second.rollBack()
    #expect(user.value.likes == 5 && screen.user.likes == 5 && screen.calls < 10)
  }

  @Test("A stamped push of what a layer shows is the server's answer to it, and is there when the layer has gone")
  func confirmed() {
    let user = store.store(LayeredUser(id: "ada", likes: 3), modifiedAt: 1)
    let layer = like()
    #expect(user.value.likes == 4)
    manager.pushUpdatedObject(LayeredUser(id: "ada", likes: 4), modifiedAt: 9)
    layer.rollBack()
    #expect(user.value.likes == 4 && screen.user.likes == 4)
    manager.pushUpdatedObject(LayeredUser(id: "ada", likes: 2), modifiedAt: 8)
    #expect(user.value.likes == 4 && screen.user.likes == 4)
  }

  @Test("Two stores that both have layers do not push for ever")
  func twoStores() {
    let other = EntityStore(delivery: .immediate)
    manager.register(other)
    let users = [store.store(LayeredUser(id: "ada")), other.store(LayeredUser(id: "ada"))]
    let layers = [
      like(), other.optimistically { tx in tx.update(LayeredUser.self, id: "ada") { $0.likes += 1 } },
    ]
    for layer in layers { layer.rollBack() }
    #expect(users.map(\.value.likes).allSatisfy { $0 < 10 })
  }
}
