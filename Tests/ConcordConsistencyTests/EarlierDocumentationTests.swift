import ConcordConsistency
import Testing

// This target is built without `ExistentialAny`, so that these compile as the earlier documentation writes them.

@MainActor
class ProfileScreen {
  var user: User { didSet { label = user.name } }
  var label = ""

  init(user: User, manager: ConsistencyManager = .shared) {
    self.user = user
    manager.register(self)
  }
}

extension ProfileScreen: @MainActor ConsistentEnvironment {
  var objects: [ConsistentObject] {
    return [self.user]
  }

  func update(with object: ConsistentObject) {
    self.user = self.user.updated(with: object)
  }
}

@MainActor
class MainActorScreen {
  var videos: [Video]
  var onMerged: () -> Void = {}

  init(videos: [Video]) {
    self.videos = videos
    ConsistencyManager.shared.register(self)
  }
}

extension MainActorScreen: @MainActor ConsistentEnvironment {
  var objects: [ConsistentObject] { videos }

  func update(with object: ConsistentObject) {
    videos.updated(with: object, in: self) { (updatedVideos) in
      self.videos = updatedVideos
      self.onMerged()
    }
  }
}

@Suite("The earlier documentation", .serialized)
struct EarlierDocumentationTests {
  @Test("Synchronous merges of an object and of a collection")
  func synchronous() {
    let otherObject: ConsistentObject = User("1", "Ada L.")
    var object = User("1", "Ada")
    object = object.updated(with: otherObject)
    var objects = [Video("v", "Film", user: User("1", "Ada"))]
    objects = objects.updated(with: otherObject)
    #expect(object.name == "Ada L.")
    #expect(objects[0].user?.name == "Ada L.")
    #expect(otherObject.id == "1")
  }

  @Test("Asynchronous merges complete on the main actor, in order")
  @MainActor
  func asynchronous() async {
    let screen = ProfileScreen(user: User("unique-1", "0"))
    let names = await withCheckedContinuation { continuation in
      var names: [String] = []
      for version in 1...20 {
        screen.user.updated(with: User("unique-1", "\(version)"), in: screen) { updated in
          MainActor.assertIsolated()
          names.append(updated.name)
          if names.count == 20 { continuation.resume(returning: names) }
        }
      }
    }
    #expect(names == (1...20).map { "\($0)" })
  }

  @Test("Also when the first merges take longest")
  @MainActor
  func asynchronousOrder() async {
    let screen = ProfileScreen(user: User("unique-7", "0"))
    let sizes = [50_000, 10, 20_000, 1, 100]
    let merged = await withCheckedContinuation { continuation in
      var merged: [Int] = []
      for size in sizes {
        let videos = (0..<size).map { Video("\($0)", "", user: User("unique-7", "0")) }
        videos.updated(with: User("unique-7", "new"), in: screen) { updated in
          merged.append(updated.count)
          if merged.count == sizes.count { continuation.resume(returning: merged) }
        }
      }
    }
    #expect(merged == sizes)
  }

  @Test("A collection merges asynchronously too")
  @MainActor
  func asynchronousCollection() async {
    let screen = MainActorScreen(videos: [Video("unique-6", "Film", user: User("unique-2", "Ada"))])
    await withCheckedContinuation { continuation in
      screen.onMerged = {
        // Other tests push to the shared manager, too.
        guard screen.videos[0].user?.name == "Ada L." else { return }
        screen.onMerged = {}
        continuation.resume()
      }
      ConsistencyManager.shared.pushUpdatedObject(User("unique-2", "Ada L."))
    }
    #expect(screen.videos[0].user?.name == "Ada L.")
  }

  @Test("A merge within an asynchronous function is synchronous, as it was")
  func synchronousInAsynchronous() async {
    var user = User("1", "Ada")
    user = user.updated(with: User("1", "Ada L."))
    var users: [ConsistentObject] = [user]
    users = users.updated(with: User("1", "A. L."))
    #expect(user.name == "Ada L.")
    #expect((users[0] as? User)?.name == "A. L.")
  }

  @Test("Awaiting a merge, which is ours")
  @MainActor
  func awaiting() async {
    let other: ConsistentObject = User("1", "Ada L.")
    let object = await User("1", "Ada").updatedInBackground(with: other)
    let objects = await [User("1", "Ada")].updatedInBackground(with: other)
    let mixed = await [User("1", "Ada") as ConsistentObject].updatedInBackground(with: other)
    #expect(object.name == "Ada L.")
    #expect(objects[0].name == "Ada L.")
    #expect((mixed[0] as? User)?.name == "Ada L.")
  }

  @Test("Register, push and pull")
  @MainActor
  func manager() {
    let user = User("unique-3", "Ada")
    let screen = ProfileScreen(user: user)
    ConsistencyManager.shared.pushUpdatedObject(User("unique-3", "Ada L."))
    #expect(screen.label == "Ada L.")
    ConsistencyManager.shared.pushUpdatedObjects([User("unique-3", "A. L."), User("unique-4", "Bob")])
    #expect(screen.label == "A. L.")
    let video = Video("unique-5", "Film", user: user)
    #expect(ConsistencyManager.shared.pullUpdatedObject(for: video).user?.name == "A. L.")
    #expect(ConsistencyManager.shared.pullUpdatedObjects(for: [video])[0].user?.name == "A. L.")
  }
}
