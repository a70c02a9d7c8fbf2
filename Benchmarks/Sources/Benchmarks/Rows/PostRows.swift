import Concord

extension Row {
  /// 10,000 posts of one user, stored and kept.
  private struct Feed {
    let user = User(id: 1)
    let posts: [Post]
    let store = EntityStore(delivery: .immediate)
    let kept: [EntityObserver<Post>]

    init() {
      posts = Post.samples(10_000, author: user)
      kept = posts.map { [store] in store.store($0) }
    }

    func rename(_ name: String) { store.update(User.self, id: user.id) { $0.name = name } }

    /// Reads every post, which brings up to date what an update only marked, and checks what it shows.
    func expectAuthor(_ name: String) throws {
      for observer in kept { try expect(observer.value.author.name, is: name, "the author in a post") }
    }
  }

  /// The floor of a feed: the posts in a Dictionary.
  private struct PlainFeed {
    var user: User
    let ids: [Int]
    var posts: [Int: Post]

    init(_ feed: Feed) {
      user = feed.user
      ids = feed.posts.map(\.id)
      posts = Dictionary(uniqueKeysWithValues: feed.posts.map { ($0.id, $0) })
    }

    mutating func rename(_ name: String) {
      user.name = name
      for id in ids { posts.inPlace(id) { $0.author = user } }
    }

    func expectAuthor(_ name: String) throws {
      for post in posts.values { try expect(post.author.name, is: name, "the author in a post") }
    }
  }

  static var updateUser: Row {
    Row(
      "one user inside 10,000 posts, update the user, unobserved", goal: .floor(times: 0.5), was: "76.8 µs",
      earlier: .cohesionKit(17.5e6),
      floor: "assigns the changed user to each of the posts in a Dictionary, at once"
    ) { stopwatch in
      let feed = Feed()
      var plain = PlainFeed(feed)
      var turn = (concord: 0, floor: 0)
      return Sides {
        turn.concord += 1
        let name = Titles[turn.concord]
        let time = stopwatch.nanoseconds { feed.rename(name) }
        try feed.expectAuthor(name)
        return time
      } floor: {
        turn.floor += 1
        let name = Titles[turn.floor]
        let time = stopwatch.nanoseconds { plain.rename(name) }
        try plain.expectAuthor(name)
        return time
      }
    }
  }

  static var updateUserAgain: Row {
    Row(
      "the second update of that user, no post read since", goal: .microseconds(1), was: "0.16 µs",
      floor: "changes the user in place in a Dictionary; no post shows it"
    ) { stopwatch in
      let feed = Feed()
      var users = [feed.user.id: feed.user]
      let count = 1_000
      return Sides {
        feed.rename("The first update, which is not timed")
        let time = stopwatch.nanoseconds(per: count) { for index in 0..<count { feed.rename(Titles[index]) } }
        try feed.expectAuthor(Titles[count - 1])
        return time
      } floor: {
        let time = stopwatch.nanoseconds(per: count, on: &users) { users in
          for index in 0..<count { users.inPlace(feed.user.id) { $0.name = Titles[index] } }
        }
        try expect(users[feed.user.id]?.name == Titles[count - 1], "the user did not change")
        return time
      }
    }
  }

  static var updateUserObserved: Row {
    Row(
      "the same, all 10,000 observed", goal: .floor(times: 3), was: "4.79 ms", earlier: .cohesionKit(47.7e6),
      floor: "assigns the changed user to each of the posts in a Dictionary, and calls the closure kept for each post"
    ) { stopwatch in
      let feed = Feed()
      let screens = feed.posts.map { _ in Screen<Post>() }
      let subscriptions = zip(feed.kept, screens).map { observer, screen in observer.observe { screen.show($0) } }

      var plain = PlainFeed(feed)
      let floorScreens = feed.posts.map { _ in Screen<Post>() }
      let observers = Observers<Post>()
      for (post, screen) in zip(feed.posts, floorScreens) { observers.observe(post.id) { screen.show($0) } }

      var turn = (concord: 0, floor: 0)
      return Sides {
        turn.concord += 1
        let name = Titles[turn.concord]
        let time = stopwatch.nanoseconds { feed.rename(name) }
        for screen in screens {
          // One call came with `observe`.
          try expect(screen.calls, is: turn.concord + 1, "calls of an observer")
          try expect(screen.value?.author.name, is: name, "the author an observer saw")
        }
        return withExtendedLifetime(subscriptions) { time }
      } floor: {
        turn.floor += 1
        let name = Titles[turn.floor]
        let time = stopwatch.nanoseconds(on: &plain) { plain in
          plain.user.name = name
          for id in plain.ids {
            let user = plain.user
            plain.posts.inPlace(id) {
              $0.author = user
              observers.notify(id, $0)
            }
          }
        }
        for screen in floorScreens {
          try expect(screen.calls, is: turn.floor, "calls of a closure")
          try expect(screen.value?.author.name, is: name, "the author a closure saw")
        }
        return time
      }
    }
  }

  static var buildPosts: Row {
    Row(
      "build that: 10,000 posts one by one", goal: .milliseconds(11.6), was: "8.23 ms",
      earlier: .cohesionKit(81e9, "quadratic"),
      floor: "assigns each post, and its user, to their places in two Dictionaries that grow"
    ) { stopwatch in
      let user = User(id: 1)
      let posts = Post.samples(10_000, author: user)
      return Sides {
        let store = EntityStore(delivery: .immediate)
        var kept: [EntityObserver<Post>] = []
        kept.reserveCapacity(posts.count)
        let time = stopwatch.nanoseconds { for post in posts { kept.append(store.store(post)) } }
        try expect(kept.map(\.value) == posts, "the posts do not read as they were stored")
        return time
      } floor: {
        var stored: [Int: Post] = [:]
        var users: [Int: User] = [:]
        let time = stopwatch.nanoseconds {
          for post in posts {
            stored[post.id] = post
            users[post.author.id] = post.author
          }
        }
        try expect(stored.count == posts.count && users.count == 1, "not everything was stored")
        return time
      }
    }
  }

  static var buildPostsChanging: Row {
    Row(
      "the same, each with its author's newest name", goal: .floor(times: 2),
      floor: "Concord with an unchanged author"
    ) { stopwatch in
      let same = Post.samples(10_000, author: User(id: 1))
      let changing = same.map { post in
        var post = post
        post.author.name = Titles[post.id]
        return post
      }
      func build(_ posts: [Post]) throws -> Double {
        let store = EntityStore(delivery: .immediate)
        var kept: [EntityObserver<Post>] = []
        kept.reserveCapacity(posts.count)
        let time = stopwatch.nanoseconds { for post in posts { kept.append(store.store(post)) } }
        try expect(kept[0].value.author == posts[9_999].author, "a post does not show its author's newest name")
        return time
      }
      return Sides {
        try build(changing)
      } floor: {
        try build(same)
      }
    }
  }
}
