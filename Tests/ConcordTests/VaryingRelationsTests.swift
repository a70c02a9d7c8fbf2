import Concord
import Dispatch
import Testing

/// A medium and its preview, which is a relation only while it has one.
private struct Screen: EntityWrapper, Equatable {
  var hasPreview = false
  var media: Tag
  var preview: Tag

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    hasPreview
      ? [.init(parent.appending(path: \.media)), .init(parent.appending(path: \.preview))]
      : [.init(parent.appending(path: \.media))]
  }
}

private struct Gallery: Aggregate, Equatable {
  let id: Int
  var screens: [Screen]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(wrapper: \.screens)] }
}

/// A medium that is an entity, with relations of its own that depend on it.
private struct Medium: Aggregate, Equatable {
  let id: Int
  var hasPreview = false
  var media: Tag
  var preview: Tag
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    hasPreview ? [.init(\.media), .init(\.preview)] : [.init(\.media)]
  }
}

/// A wrapper whose relations depend on an entity inside of it.
private struct Frame: EntityWrapper, Equatable {
  struct Media: Identifiable, Equatable {
    let id: Int
    var hasPreview = false
    var title = 0
  }

  var media: Media
  var preview: Tag

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    media.hasPreview
      ? [.init(parent.appending(path: \.media)), .init(parent.appending(path: \.preview))]
      : [.init(parent.appending(path: \.media))]
  }
}

private struct Wall: Aggregate, Equatable {
  let id: Int
  var frames: [Frame]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(wrapper: \.frames)] }
}

/// The other order, and another type where the first stood.
private struct Swapped: Aggregate, Equatable {
  let id: Int
  var mode = 0
  var tag: Tag
  var work: Work
  var tags: [Tag] = []
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    switch mode {
    case 0: [.init(\.tag), .init(\.work)]
    case 1: [.init(\.work), .init(\.tag)]
    case 2: [.init(\.work)]
    case 3: [.init(\.tags), .init(\.work), .init(\.tag)]
    case 4: [.init(\.tags)]
    default: []
    }
  }
}

/// Shows its own tag until another one is pinned.
private struct Board: Aggregate, Equatable {
  let id: Int
  var name = 0
  var own: Tag
  var pinned: Tag?
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { pinned == nil ? [.init(\.own)] : [.init(\.pinned)] }
}

/// Relations that depend on a value that belongs to a child.
private struct Deck: Aggregate, Equatable {
  let id: Int
  var top: Tag
  var low: Tag
  var rest: [Tag]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    var relations: [PartialIdentifiableKeyPath<Self>] = [.init(\.top)]
    if top.text % 2 == 1 { relations.append(.init(\.low)) }
    if top.text % 3 == 0 { relations.insert(.init(\.rest), at: 0) }
    return relations
  }
}

private func tag(_ id: Int, _ text: Int = 0) -> Tag { Tag(id: id, text: text) }

@Suite("Relations may depend on the value")
struct VaryingRelationsTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("A wrapper in an array of three that gets a second relation", arguments: 0..<9, [true, false])
  func wrapperInArray(pair: Int, isRead: Bool) {
    let (changed, other) = (pair / 3, pair % 3)
    let gallery = store.store(
      Gallery(id: 0, screens: (0..<3).map { Screen(media: tag($0), preview: tag(10 + $0)) }))
    store.update(Gallery.self, id: 0) { $0.screens[changed].hasPreview = true }
    if isRead { _ = gallery.value }
    store.update(Tag.self, id: other) { $0.text = 1 }
    #expect(gallery.value.screens.map(\.media.text) == (0..<3).map { $0 == other ? 1 : 0 })
    store.update(Tag.self, id: 10 + changed) { $0.text = 2 }
    #expect(gallery.value.screens.map(\.preview.text) == (0..<3).map { $0 == changed ? 2 : 0 })
    #expect(store.find(Tag.self, id: 10 + (changed + 1) % 3) == nil)
    store.update(Gallery.self, id: 0) { $0.screens[changed].hasPreview = false }
    #expect(store.find(Tag.self, id: 10 + changed) == nil)
    for id in 0..<3 { store.update(Tag.self, id: id) { $0.text = 7 } }
    #expect(gallery.value.screens.map(\.media.text) == [7, 7, 7])
    #expect(store._checkInvariants() == [])
  }

  @Test("A wrapper whose relations an entity inside of it changes", arguments: 0..<9, [true, false])
  func wrapperByEntity(pair: Int, isRead: Bool) {
    let (changed, other) = (pair / 3, pair % 3)
    let wall = store.store(
      Wall(id: 0, frames: (0..<3).map { Frame(media: .init(id: $0), preview: tag($0)) }))
    store.update(Frame.Media.self, id: changed) { $0.hasPreview = true }
    if isRead { #expect(wall.value.frames.map(\.media.hasPreview) == (0..<3).map { $0 == changed }) }
    store.update(Frame.Media.self, id: other) { $0.title = 1 }
    #expect(wall.value.frames.map(\.media.title) == (0..<3).map { $0 == other ? 1 : 0 })
    #expect((0..<3).map { store.find(Tag.self, id: $0) != nil } == (0..<3).map { $0 == changed })
    store.update(Tag.self, id: changed) { $0.text = 5 }
    #expect(wall.value.frames.map(\.preview.text) == (0..<3).map { $0 == changed ? 5 : 0 })
    for id in 0..<3 { store.update(Frame.Media.self, id: id) { $0.hasPreview.toggle() } }
    #expect(wall.value.frames.map(\.media.hasPreview) == (0..<3).map { $0 != changed })
    #expect((0..<3).map { store.find(Tag.self, id: $0) != nil } == (0..<3).map { $0 != changed })
    store.remove(Frame.Media.self, id: other)
    #expect(wall.value.frames.map(\.media.id) == (0..<3).filter { $0 != other })
    #expect(store._checkInvariants() == [])
  }

  @Test("A wrapper in an array of three that loses a relation by a store", arguments: 0..<3)
  func wrapperStored(changed: Int) {
    var value = Gallery(id: 0, screens: (0..<3).map { Screen(hasPreview: true, media: tag($0), preview: tag(10 + $0)) })
    let gallery = store.store(value)
    value.screens[changed].hasPreview = false
    store.store(value)
    for id in [0, 1, 2, 10, 11, 12] { store.update(Tag.self, id: id) { $0.text = id } }
    #expect(gallery.value.screens.map(\.media.text) == [0, 1, 2])
    #expect(gallery.value.screens.map(\.preview.text) == (0..<3).map { $0 == changed ? 0 : 10 + $0 })
    store.remove(Tag.self, id: (changed + 1) % 3)
    #expect(store.find(Tag.self, id: changed) == nil || gallery.value.screens.count <= 3)
    #expect(store._checkInvariants() == [])
  }

  @Test("The same of an entity, alone and inside others", arguments: [true, false])
  func entity(isObserved: Bool) {
    let log = Log<Medium>()
    let medium = store.store(Medium(id: 0, media: tag(1), preview: tag(2)))
    let subscription = isObserved ? medium.observe { log.append($0) } : nil
    store.update(Medium.self, id: 0) { $0.hasPreview = true }
    store.update(Tag.self, id: 2) { $0.text = 1 }
    #expect(medium.value == Medium(id: 0, hasPreview: true, media: tag(1), preview: tag(2, 1)))
    store.update(Medium.self, id: 0) { $0.hasPreview = false }
    #expect(store.find(Tag.self, id: 2) == nil)
    store.update(Tag.self, id: 1) { $0.text = 1 }
    #expect(medium.value == Medium(id: 0, media: tag(1, 1), preview: tag(2, 1)))
    if isObserved { #expect(log.last == medium.value) }
    #expect(store._checkInvariants() == [])
    subscription?.unsubscribe()
  }

  @Test("Another order, other types, at every step", arguments: 0..<6, 0..<6)
  func swapped(from: Int, to: Int) {
    let keep = store.store([tag(1), tag(2), tag(3)])
    let keepWork = store.store(Work(id: 1, title: 0, tags: [tag(1)]))
    let entity = store.store(
      Swapped(
        id: 0, mode: from, tag: tag(1), work: Work(id: 1, title: 0, tags: [tag(1)]), tags: [tag(2), tag(3), tag(1)]))
    store.update(Tag.self, id: 1) { $0.text = 1 }
    store.update(Swapped.self, id: 0) { $0.mode = to }
    store.update(Work.self, id: 1) { $0.title = 2 }
    store.update(Tag.self, id: 1) { $0.text = 2 }
    store.update(Tag.self, id: 3) { $0.text = 3 }
    let value = entity.value
    if [0, 1, 3].contains(to) { #expect(value.tag == tag(1, 2)) }
    if to < 4 { #expect(value.work == Work(id: 1, title: 2, tags: [tag(1, 2)])) }
    if [3, 4].contains(to) { #expect(value.tags == [tag(2), tag(3, 3), tag(1, 2)]) }
    store.remove(Tag.self, id: 1)
    #expect((store.find(Swapped.self, id: 0) == nil) == [0, 1, 3].contains(to))
    if to == 4 { #expect(entity.value.tags == [tag(2), tag(3, 3)]) }
    #expect(store._checkInvariants() == [])
    withExtendedLifetime((keep, keepWork)) {}
  }

  @Test("Removing an entity that stands in a relation of now and in one of before")
  func pinnedAndOwn() {
    let board = store.store(Board(id: 0, own: tag(7), pinned: tag(7)))
    store.remove(Tag.self, id: 7)
    // Once nothing is pinned, the own tag is a relation again; and that one is required.
    if store.find(Board.self, id: 0) != nil {
      store.update(Board.self, id: 0) { $0.name = 1 }
      #expect(store.find(Tag.self, id: board.value.own.id) != nil)
    }
    #expect(store._checkInvariants() == [])
    store.store(Board(id: 0, name: 2, own: tag(8), pinned: tag(9)))
    store.update(Tag.self, id: 9) { $0.text = 1 }
    #expect(board.value == Board(id: 0, name: 2, own: tag(8), pinned: tag(9, 1)))
    #expect(store._checkInvariants() == [])
  }

  @Test("Removing what is pinned shows the store's value of what stands below it")
  func unpinned() {
    let keep = store.store([tag(7), tag(8)])
    let board = store.store(Board(id: 0, own: tag(7), pinned: tag(8)))
    store.update(Tag.self, id: 7) { $0.text = 5 }
    store.remove(Tag.self, id: 8)
    #expect(board.value == Board(id: 0, own: tag(7, 5)))
    store.update(Tag.self, id: 7) { $0.text = 6 }
    #expect(board.value.own == tag(7, 6))
    store.update(Board.self, id: 0) { $0.pinned = tag(9) }
    store.update(Board.self, id: 0) { $0.name = 1 }
    #expect(board.value.pinned == tag(9))
    #expect(store._checkInvariants() == [])
    withExtendedLifetime(keep) {}
  }

  @Test("A child's new value changes its parent's relations", arguments: [true, false])
  func byChild(isObserved: Bool) {
    let log = Log<Deck>()
    let keep = store.store((0..<4).map { tag($0) })
    let deck = store.store(Deck(id: 0, top: tag(0), low: tag(1), rest: [tag(2), tag(3)]))
    let subscription = isObserved ? deck.observe { log.append($0) } : nil
    for text in 1...12 {
      store.update(Tag.self, id: 0) { $0.text = text }
      if text % 5 != 0 { for id in 1...3 { store.update(Tag.self, id: id) { $0.text = text } } }
      let value = deck.value
      #expect(value.top.text == text)
      if text % 2 == 1 { #expect(value.low == store.find(Tag.self, id: 1)?.value, "\(text)") }
      if text % 3 == 0 { #expect(value.rest == (2...3).compactMap { store.find(Tag.self, id: $0)?.value }, "\(text)") }
      #expect(store._checkInvariants() == [], "\(text)")
      if isObserved { #expect(log.last == value) }
    }
    store.update(Tag.self, id: 0) { $0.text = 3 }
    store.remove(Tag.self, id: 2)
    #expect(deck.value.rest.map(\.id) == [3])
    store.remove(Tag.self, id: 1)
    #expect(store.find(Deck.self, id: 0) == nil)
    #expect(store._checkInvariants() == [])
    subscription?.unsubscribe()
    withExtendedLifetime(keep) {}
  }

  @Test("A relation that comes keeps its entity, one that goes lets it go")
  func lifetime() {
    let deck = store.store(Deck(id: 0, top: tag(0, 1), low: tag(1), rest: [tag(2)]))
    #expect([0, 1, 2].map { store.find(Tag.self, id: $0) != nil } == [true, true, false])
    store.update(Deck.self, id: 0) { $0.top.text = 2 }
    #expect([0, 1, 2].map { store.find(Tag.self, id: $0) != nil } == [true, false, false])
    store.update(Deck.self, id: 0) { $0.top.text = 3 }
    #expect([0, 1, 2].map { store.find(Tag.self, id: $0) != nil } == [true, true, true])
    store.update(Deck.self, id: 0) { $0.top.text = 6 }
    #expect([0, 1, 2].map { store.find(Tag.self, id: $0) != nil } == [true, false, true])
    #expect(store._checkInvariants() == [])
    withExtendedLifetime(deck) {}
  }

  @Test("An update that throws away its transaction restores the relations of before")
  func undone() {
    let medium = store.store(Medium(id: 0, hasPreview: true, media: tag(1), preview: tag(2)))
    try? store.transaction { store in
      store.update(Medium.self, id: 0) { $0.hasPreview = false }
      _ = medium.value
      store.update(Tag.self, id: 1) { $0.text = 1 }
      store.update(Medium.self, id: 0) { $0.hasPreview = true }
      store.update(Tag.self, id: 2) { $0.text = 1 }
      _ = medium.value
      throw Refused()
    }
    #expect(medium.value == Medium(id: 0, hasPreview: true, media: tag(1), preview: tag(2)))
    store.update(Tag.self, id: 2) { $0.text = 3 }
    #expect(medium.value.preview == tag(2, 3))
    #expect(store._checkInvariants() == [])
  }
}

/// Has an entity as a relation only while that says something small.
private struct Shy: Aggregate, Equatable {
  let id: Int
  var main: Tag
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { main.text > 20 ? [] : [.init(\.main)] }
}

/// The same, and it cannot be compared.
private struct Secret: Aggregate {
  let id: Int
  var main: Tag
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { main.text > 20 ? [] : [.init(\.main)] }
}

private struct Holder: Aggregate, Equatable {
  let id: Int
  var shy: Shy
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.shy)] }
}

@Suite("Whoever changes through an entity that stands in it no longer is told")
struct LostRelationTests {
  @Test("In a transaction as outside of one, and above it too", arguments: [false, true], [false, true])
  func told(isInTransaction: Bool, isQueued: Bool) async {
    let store = isQueued ? EntityStore(queue: DispatchQueue(label: "delivery")) : EntityStore(delivery: .immediate)
    let (shy, secret, holder) = (Log<Int>(), Log<Int>(), Log<Int>())
    let tag = store.store(Tag(id: 0, text: 8))
    let subscriptions = [
      store.store(Shy(id: 0, main: tag.value)).observe { shy.append($0.main.text) },
      store.store(Secret(id: 0, main: tag.value)).observe { secret.append($0.main.text) },
      store.store(Holder(id: 0, shy: Shy(id: 0, main: tag.value))).observe { holder.append($0.shy.main.text) },
    ]
    if isInTransaction {
      store.transaction { tx in
        tx.update(Tag.self, id: 0) { $0.text = 26 }
        tx.store(Tag(id: 1, text: 0))
      }
    } else {
      store.update(Tag.self, id: 0) { $0.text = 26 }
    }
    await store.settled()
    #expect(shy.values == [8, 26])
    #expect(secret.values == [8, 26])
    #expect(holder.values == [8, 26])
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("What changed its shape before the transaction, and is read in it, is told of once", arguments: [false, true])
  func toldBefore(isEquatable: Bool) async {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 8))
    let (shy, secret) = (store.store(Shy(id: 0, main: tag.value)), store.store(Secret(id: 0, main: tag.value)))
    let subscription =
      isEquatable ? shy.observe { log.append($0.main.text) } : secret.observe { log.append($0.main.text) }
    await store.settled()
    queue.suspend()
    store.update(Tag.self, id: 0) { $0.text = 26 }
    store.transaction { tx in
      tx.update(Tag.self, id: 0) { $0.text += 0 }
      tx.store(Tag(id: 1, text: 0))
      // The queue has its turn here, and takes what is committed.
      queue.resume()
      queue.sync {}
      #expect(shy.value.main.text + secret.value.main.text == 52)
    }
    await store.settled()
    #expect(log.values == [8, 26])
    subscription.unsubscribe()
  }

  @Test("Read inside the transaction, and undone: told of nothing, and followed as before")
  func undone() {
    let store = EntityStore(delivery: .immediate)
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 8))
    let shy = store.store(Shy(id: 0, main: tag.value))
    let subscription = shy.observe { log.append($0.main.text) }
    try? store.transaction { tx in
      tx.update(Tag.self, id: 0) { $0.text = 26 }
      #expect(shy.value.main.text == 26)
      throw Refused()
    }
    #expect(log.values == [8])
    #expect(shy.value.main.text == 8)
    store.update(Tag.self, id: 0) { $0.text = 9 }
    #expect(log.values == [8, 9])
    #expect(store._checkInvariants() == [])
    subscription.unsubscribe()
  }
}
