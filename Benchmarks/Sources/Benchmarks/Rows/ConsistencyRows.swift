import ConcordConsistency

extension Row {
  /// The second table: objects that their owners hold, and the earlier system's figures, which were measured for the
  /// design on its machine.
  static var consistency: [Row] {
    [
      pushOne(
        "push one object to 100 owners of 1,000 objects, written by hand", was: "103 ms", Video.self, divisor: 2),
      pushOne(
        "push one object to 100 owners of 1,000 objects, generated", was: "6.02 ms", GeneratedVideo.self, divisor: 20),
      pushMany("push 10,000 objects to one owner of 10,000, written by hand", was: "27.5 ms", Video.self),
      pushMany("push 10,000 objects to one owner of 10,000, generated", was: "21.0 ms", GeneratedVideo.self),
      registerOwners, mergeDiamond,
    ]
  }

  private static var registerOwners: Row {
    Row(
      "register 16,000 owners", goal: .milliseconds(20), was: "33 s",
      floor: "keeps a weak reference to each of them in a Dictionary", repetitions: 11
    ) { stopwatch in
      let video = GeneratedVideo(number: 471)
      let owners = (0..<16_000).map { _ in Owner([video]) }
      var turn = 0
      return Sides {
        let manager = ConsistencyManager()
        let time = stopwatch.nanoseconds { for owner in owners { manager.register(owner) } }
        turn += 1
        manager.pushUpdatedObject(changed(video, turn))
        for owner in owners { try expect(owner.updates, is: turn, "updates of an owner") }
        return time
      } floor: {
        var registered: [ObjectIdentifier: Weak] = [:]
        let time = stopwatch.nanoseconds { for owner in owners { registered[ObjectIdentifier(owner)] = Weak(owner) } }
        try expect(registered.values.count { $0.object != nil }, is: owners.count, "owners that are registered")
        return time
      }
    }
  }

  /// As many layers as took the earlier way 334 ms: 2 to the power of 17 paths lead to the leaf, through 34 objects.
  private static var mergeDiamond: Row {
    Row(
      "merge a leaf into a diamond of 17 layers, written by hand", goal: .milliseconds(5), earlier: .uniform(334e6),
      floor: "builds the 35 values above the leaf anew, each layer with the layer below"
    ) { stopwatch in
      let diamond = Folder.diamond(layers: 17, leaf: Folder(id: "leaf", title: "old"))
      var turn = (concord: 0, floor: 0)
      func expectLeaf(_ folder: Folder, _ turn: Int) throws {
        var leaf = folder
        while let next = leaf.folders.last { leaf = next }
        try expect(leaf.title, is: Titles[turn], "the leaf of the diamond")
      }
      return Sides {
        turn.concord += 1
        let leaf = Folder(id: "leaf", title: Titles[turn.concord])
        var merged = diamond
        let time = stopwatch.nanoseconds { merged = diamond.updated(with: leaf) }
        try expectLeaf(merged, turn.concord)
        return time
      } floor: {
        turn.floor += 1
        let leaf = Folder(id: "leaf", title: Titles[turn.floor])
        var built = diamond
        let time = stopwatch.nanoseconds { built = Folder.diamond(layers: 17, leaf: leaf) }
        try expectLeaf(built, turn.floor)
        return time
      }
    }
  }

  /// What the floor keeps of an owner.
  private struct Weak {
    private(set) weak var object: AnyObject?

    init(_ object: AnyObject) { self.object = object }
  }

  private static func pushOne<V: OwnedVideo>(_ name: String, was: String, _ type: V.Type, divisor: Int) -> Row {
    Row(
      name, goal: .part(divisor, of: "Uniform", milliseconds: 277), was: was,
      earlier: .uniform(277e6),
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

  private static func pushMany<V: OwnedVideo>(_ name: String, was: String, _ type: V.Type) -> Row {
    Row(
      name, goal: .milliseconds(50), was: was, earlier: .uniform(284e9, "quadratic"),
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
