import ConcordConsistency

extension Row {
  /// The second table: objects that their owners hold, and the earlier system's figures, which were measured for the
  /// design on its machine.
  static var consistency: [Row] {
    [
      pushOne("push one object to 100 owners of 1,000 objects, written by hand", Video.self, fraction: 2),
      pushOne("push one object to 100 owners of 1,000 objects, generated", GeneratedVideo.self, fraction: 20),
      pushMany("push 10,000 objects to one owner of 10,000, written by hand", Video.self),
      pushMany("push 10,000 objects to one owner of 10,000, generated", GeneratedVideo.self),
      register,
    ]
  }

  private static var register: Row {
    Row(
      "register 16,000 owners", goal: .milliseconds(20), earlier: "33 s in Concord before (quadratic)",
      floor: "puts the owners into a Dictionary, by identity"
    ) { stopwatch in
      let videos = (0..<1).map(Video.init)
      let owners = (0..<16_000).map { _ in Owner(videos) }
      return Sides {
        let manager = ConsistencyManager()
        return stopwatch.nanoseconds { for owner in owners { manager.register(owner) } }
      } floor: {
        var known: [ObjectIdentifier: Owner<Video>] = [:]
        let time = stopwatch.nanoseconds(on: &known) { known in
          for owner in owners { known[ObjectIdentifier(owner)] = owner }
        }
        try expect(known.count, is: owners.count, "owners")
        return time
      }
    }
  }

  private static func pushOne<V: OwnedVideo>(_ name: String, _ type: V.Type, fraction: Double) -> Row {
    Row(
      name, goal: .milliseconds(277 / fraction, "≤ 1/\(Int(fraction)) of Uniform's 277 ms"), earlier: "277 ms",
      floor: "goes through the owners' arrays and assigns what has the object's id, or the id of what is in it"
    ) { stopwatch in
      let videos = (0..<1_000).map(V.init)
      let manager = ConsistencyManager()
      let owners = (0..<100).map { _ in Owner(videos) }
      for owner in owners { manager.register(owner) }
      var arrays = owners.map(\.videos)
      var turn = (concord: 0, floor: 0)
      return Sides {
        turn.concord += 1
        let pushed = changed(videos[471], turn.concord)
        let time = stopwatch.nanoseconds { manager.pushUpdatedObject(pushed) }
        for owner in owners {
          try expect(owner.updates, is: turn.concord, "updates of an owner")
          try expect(owner.videos[471], is: pushed, "the pushed object at an owner")
          // The person in it is also in others, and nothing else has changed.
          try expect(owner.videos[571].authorName, is: pushed.authorName, "the person in another object")
          try expect(owner.videos[572], is: videos[572], "an object that was not pushed")
        }
        return time
      } floor: {
        turn.floor += 1
        let pushed = changed(videos[471], turn.floor)
        let time = stopwatch.nanoseconds(on: &arrays) { arrays in
          for array in arrays.indices { assign(pushed, in: &arrays[array]) }
        }
        for array in arrays { try expect(array[571].authorName, is: pushed.authorName, "the person in another object") }
        return time
      }
    }
  }

  private static func pushMany<V: OwnedVideo>(_ name: String, _ type: V.Type) -> Row {
    Row(
      name, goal: .milliseconds(50), earlier: "284 s (quadratic)",
      floor: "puts the pushed objects into a Dictionary, and assigns them to those of the owner's array"
    ) { stopwatch in
      let videos = (0..<10_000).map(V.init)
      let manager = ConsistencyManager()
      let owner = Owner(videos)
      manager.register(owner)
      var array = videos
      var turn = (concord: 0, floor: 0)
      return Sides {
        turn.concord += 1
        let pushed = videos.map { changed($0, turn.concord) }
        let time = stopwatch.nanoseconds { manager.pushUpdatedObjects(pushed) }
        try expect(owner.updates, is: turn.concord, "updates of the owner")
        try expect(owner.videos == pushed, "the owner does not have what was pushed")
        return time
      } floor: {
        turn.floor += 1
        let pushed = videos.map { changed($0, turn.floor) }
        let time = stopwatch.nanoseconds(on: &array) { array in
          let newest = Dictionary(uniqueKeysWithValues: pushed.map { ($0.id, $0) })
          for index in array.indices { if let video = newest[array[index].id] { array[index] = video } }
        }
        try expect(array == pushed, "the array does not have what was pushed")
        return time
      }
    }
  }

  /// The object with other fields, also in what it contains.
  private static func changed<V: OwnedVideo>(_ video: V, _ turn: Int) -> V {
    var video = video
    video.title = Titles[turn]
    video.authorName = "A person who changed names \(turn) times"
    return video
  }

  /// The floor of a push: what is known of the type is used, and nothing is found out.
  private static func assign<V: OwnedVideo>(_ pushed: V, in array: inout [V]) {
    for index in array.indices {
      if array[index].id == pushed.id {
        array[index] = pushed
      } else if array[index].authorID == pushed.authorID, array[index].authorName != pushed.authorName {
        array[index].authorName = pushed.authorName
      }
    }
  }
}
