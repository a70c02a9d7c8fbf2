import ConcordConsistency
import Testing

@Suite("Merging")
struct MergeTests {
  @Test("An object takes the newer state of itself")
  func itself() {
    #expect(User("1", "Ada").updated(with: User("1", "Ada L.")).name == "Ada L.")
  }

  @Test("An object with another id changes nothing")
  func otherID() {
    #expect(User("1", "Ada").updated(with: User("2", "Bob")).name == "Ada")
  }

  @Test("An object of another type with the same id changes nothing")
  func otherType() {
    #expect(User("1", "Ada").updated(with: Badge(id: "1", title: "Gold")).name == "Ada")
  }

  @Test("Types of the same name are different types")
  func sameNames() {
    enum First {
      struct Thing: ConsistentObject {
        var id: String { "1" }
        var name = ""
        var properties: [Property] { [] }
        func setting(property: Property) -> Self { self }
      }
    }
    enum Second {
      struct Thing: ConsistentObject {
        var id: String { "1" }
        var name = ""
        var properties: [Property] { [] }
        func setting(property: Property) -> Self { self }
      }
    }
    #expect(First.Thing(name: "a").updated(with: Second.Thing(name: "b")).name == "a")
    #expect(First.Thing(name: "a").updated(with: First.Thing(name: "b")).name == "b")
  }

  @Test("Merging reaches objects in optionals, arrays and dictionaries, at every depth")
  func depth() {
    let old = User("1", "Ada", badge: Badge(id: "b", title: "Silver"))
    let video = Video("v", "Film", user: old, likers: [old, User("2", "Bob")], byCity: ["Paris": [old], "Rome": []])
    let updated = video.updated(with: Badge(id: "b", title: "Gold"))
    #expect(updated.user?.badge?.title == "Gold")
    #expect(updated.likers.map { $0.badge?.title } == ["Gold", nil])
    #expect(updated.likersByCity["Paris"]?[0].badge?.title == "Gold")
    #expect(updated.likersByCity["Rome"]?.isEmpty == true)
    #expect(updated.title == "Film")
  }

  @Test("Merging reaches objects in wrappers: by properties, in enums, in arrays of optional ones")
  func wrappers() {
    let old = User("1", "Ada")
    let page = Page(
      things: [old, Video("v", "Film", user: old), Badge(id: "b", title: "Gold")],
      cover: .videos([Video("w", "Short", user: old)], caption: "new"))
    let channel = Channel(id: "c", owner: User("9", "Eve"), page: page, covers: [nil, .user(old), Cover.none])
    let updated = channel.updated(with: User("1", "Ada L."))
    #expect((updated.page.things[0] as? User)?.name == "Ada L.")
    #expect((updated.page.things[1] as? Video)?.user?.name == "Ada L.")
    #expect((updated.page.things[2] as? Badge)?.title == "Gold")
    guard case .videos(let videos, caption: "new") = updated.page.cover else { Issue.record("no videos"); return }
    #expect(videos[0].user?.name == "Ada L.")
    #expect(updated.covers.count == 3)
    guard case .user(let user)? = updated.covers[1] else { Issue.record("no user"); return }
    #expect(user.name == "Ada L.")
    #expect(updated.owner.name == "Eve")
  }

  @Test("An object of another type contributes the parts that both share, also from wrappers")
  func sharedParts() {
    let channel = Channel(
      id: "c", owner: User("2", "Bob B."),
      page: Page(things: [User("1", "Ada L.")], cover: .user(User("3", "Cy C."))))
    let video = Video(
      "v", "Film", user: User("1", "Ada"), likers: [User("2", "Bob"), User("3", "Cy"), User("4", "Di")])
    let updated = video.updated(with: channel)
    #expect(updated.user?.name == "Ada L.")
    #expect(updated.likers.map(\.name) == ["Bob B.", "Cy C.", "Di"])
  }

  @Test("Collections are merged like what they hold")
  func collections() {
    let new = User("1", "Ada L.")
    let videos = [Video("v", "Film", user: User("1", "Ada")), Video("w", "Short")]
    #expect(videos.updated(with: new)[0].user?.name == "Ada L.")
    #expect(ContiguousArray(videos).updated(with: new)[0].user?.name == "Ada L.")
    #expect(videos.dropFirst(0).updated(with: new).first?.user?.name == "Ada L.")
    #expect(["a": videos[0]].updated(with: new)["a"]?.user?.name == "Ada L.")
    #expect(Optional(videos[0]).updated(with: new)?.user?.name == "Ada L.")
    #expect([[videos[0]]].updated(with: new)[0][0].user?.name == "Ada L.")
    let mixed: [any ConsistentObject] = [videos[0], User("1", "Ada")]
    #expect((mixed.updated(with: new)[0] as? Video)?.user?.name == "Ada L.")
    #expect((mixed.updated(with: new)[1] as? User)?.name == "Ada L.")
  }

  @Test("A slice keeps its indices")
  func slices() {
    let users = [User("1", "Ada"), User("2", "Bob"), User("3", "Cy")]
    let slice = users[1...].updated(with: User("3", "Cy C."))
    #expect(slice.indices == 1..<3)
    #expect(slice[2].name == "Cy C.")
  }

  @Test("An object behind an existential is merged as its own type")
  func existential() {
    let object: any ConsistentObject = Video("v", "Film", user: User("1", "Ada"))
    #expect((object.updated(with: User("1", "Ada L.")) as? Video)?.user?.name == "Ada L.")
  }

  @Test("Of several states of one object the outermost counts")
  func outermostWins() {
    let pushed = ConsistentBatch([User("1", "outer"), Video("v", "Film", user: User("1", "inner"))])
    #expect(User("1", "Ada").updated(with: pushed).name == "outer")
    #expect(Video("v", "").updated(with: pushed).user?.name == "outer")
  }

  @Test("Of several equally nested states of one object the last counts, everywhere")
  func lastWins() {
    let pushed = Video("v", "Film", user: User("1", "first"), likers: [User("1", "second"), User("1", "third")])
    let updated = [Video("v", "")].updated(with: pushed)[0]
    #expect(updated.user?.name == "third")
    #expect(updated.likers.map(\.name) == ["third", "third"])
  }

  @Test("What is inside of a winner is current too, through several objects")
  func winnersAreMergedWithEachOther() {
    let gold = Badge(id: "b", title: "Gold")
    let silver = Badge(id: "b", title: "Silver")
    let pushed = ConsistentBatch([
      Video("v", "Film", user: User("1", "Ada", badge: silver)), User("1", "Ada L.", badge: silver), gold,
    ])
    #expect(Video("v", "").updated(with: pushed).user?.name == "Ada L.")
    #expect(Video("v", "").updated(with: pushed).user?.badge?.title == "Gold")
  }

  @Test("Nothing to merge gives the same value")
  func nothing() {
    let video = Video("v", "Film", user: User("1", "Ada"))
    #expect(video.updated(with: ConsistentBatch([])).user?.name == "Ada")
  }

  @Test("Random trees take all that was pushed, and nothing else", arguments: 0..<20)
  func randomTrees(seed: UInt64) {
    var random = Seeded(seed)
    func badge(_ version: String) -> Badge? {
      Bool.random(using: &random) ? Badge(id: "\(Int.random(in: 0..<4, using: &random))", title: version) : nil
    }
    func user(_ version: String) -> User {
      User("\(Int.random(in: 0..<5, using: &random))", version, badge: badge(version))
    }
    func video(_ version: String) -> Video {
      let likers = (0..<Int.random(in: 0..<4, using: &random)).map { _ in user(version) }
      let cities = ["Paris": [user(version)]]
      return Video(
        "\(Int.random(in: 0..<3, using: &random))", version, user: Bool.random(using: &random) ? user(version) : nil,
        likers: likers, byCity: Bool.random(using: &random) ? cities : [:])
    }
    for _ in 0..<50 {
      let own = video("old")
      let pushed = video("new")
      let updated = own.updated(with: pushed)
      // Each user and badge that was pushed is new in the result, each other one is old.
      let base = own.id == pushed.id ? pushed : own
      let newUsers = Set(users(in: pushed).map(\.id))
      let newBadges = Set(users(in: pushed).compactMap { $0.badge?.id })
      #expect(updated.title == base.title, "seed \(seed)")
      #expect(users(in: updated).map(\.id) == users(in: base).map(\.id), "seed \(seed)")
      for user in users(in: updated) {
        #expect(user.name == (newUsers.contains(user.id) ? "new" : "old"), "seed \(seed)")
        if let badge = user.badge {
          #expect(badge.title == (newBadges.contains(badge.id) ? "new" : "old"), "seed \(seed)")
        }
      }
      // Two places of one user show the same.
      for (_, same) in Dictionary(grouping: users(in: updated), by: \.id) where newUsers.contains(same[0].id) {
        #expect(Set(same.map { $0.badge?.id }).count == 1, "seed \(seed)")
      }
    }
  }

  private func users(in video: Video) -> [User] {
    [video.user].compactMap { $0 } + video.likers + (video.likersByCity["Paris"] ?? [])
  }
}

/// SplitMix64.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
