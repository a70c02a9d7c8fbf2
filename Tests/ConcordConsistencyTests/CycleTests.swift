import ConcordConsistency
import Testing

@Suite("Cycles end")
struct CycleTests {
  @Test("Instances that refer to each other are walked once")
  func instances() {
    let a = Person("a", "Ada")
    let b = Person("b", "Bob")
    a.friends = [b]
    b.friends = [a, b]
    let other = Person("z", "Zed")
    #expect(a.updated(with: other) === a)
    let newer = Person("b", "Bob B.")
    let updated = a.updated(with: newer)
    #expect(updated.friends[0] === newer)
    #expect(updated.name == "Ada")
  }

  @Test("Instances that refer to each other can be pushed")
  func pushedInstances() {
    let a = Person("a", "Ada L.")
    let b = Person("b", "Bob B.")
    a.friends = [b, a]
    b.friends = [a]
    let old = Person("b", "Bob")
    old.friends = [Person("a", "Ada")]
    let updated = old.updated(with: a)
    #expect(updated === b)
    #expect(updated.friends[0] === a)
    #expect(a.friends[1] === a)
  }

  @Test("Different instances of one object in a cycle take the outermost's fields")
  func severalInstances() {
    let a = Person("a", "new")
    let b = Person("b", "Bob")
    let stale = Person("a", "old")
    a.friends = [b]
    b.friends = [stale]
    stale.friends = [b]
    let holder = Person("h", "Holder")
    holder.friends = [Person("b", ""), Person("a", "")]
    let updated = holder.updated(with: a)
    #expect(updated.friends[0].name == "Bob")
    #expect(updated.friends[0].friends[0].name == "new")
    #expect(updated.friends[1].name == "new")
  }

  @Test("Values that contain copies of each other are current, and never grow")
  func values() {
    let pushed = Node("a", "new", [Node("b", "new", [Node("a", "stale", [])])])
    var owned = Node("b", "old", [Node("a", "old", [Node("b", "old", [Node("a", "old", [])])])])
    owned = owned.updated(with: pushed)
    #expect(owned.all.allSatisfy { $0.name == "new" })
    let size = owned.all.count
    for _ in 0..<10 {
      owned = owned.updated(with: pushed)
      owned = owned.updated(with: owned)
      #expect(owned.all.count == size)
    }
    #expect(size <= 4)
  }

  @Test("A clique of values that contain each other stays as it came")
  func clique() {
    let ids = (0..<8).map { "\($0)" }
    let people = ids.map { id in Node(id, "new", ids.map { Node($0, $0 == id ? "stale" : "new", []) }) }
    let owned = Node("0", "old", [Node("1", "old", []), Node("7", "old", [])])
    let updated = owned.updated(with: ConsistentBatch(people))
    #expect(updated.all.allSatisfy { $0.name == "new" })
    #expect(updated.all.count == 9)
  }

  @Test("A chain of 10,000 values, or of instances, is merged to its end")
  func chains() {
    var value = Node("last", "old", [])
    var person = Person("last", "old")
    for number in 0..<10_000 {
      value = Node("\(number)", "", [value])
      let next = Person("\(number)", "")
      next.friends = [person]
      person = next
    }
    var last = value.updated(with: Node("last", "new", []))
    while let next = last.friends.first { last = next }
    #expect(last.name == "new")
    var friend = person.updated(with: Person("last", "new"))
    while let next = friend.friends.first { friend = next }
    #expect(friend.name == "new")
    // And as what is pushed.
    #expect(Node("last", "", []).updated(with: value).name == "old")
  }

  @Test("In a cycle, what leads out of it is current")
  func outOfTheCycle() {
    let stale = Node("a", "stale", [], badge: Badge(id: "2", title: "Silver"))
    let pushed = ConsistentBatch([
      Node("a", "new", [Node("b", "new", [stale])], badge: Badge(id: "1", title: "old")),
      Badge(id: "1", title: "Gold"),
    ])
    let updated = Node("b", "old", []).updated(with: pushed)
    #expect(updated.friends[0].name == "new")
    #expect(updated.friends[0].badge == Badge(id: "1", title: "Gold"))
  }
}

/// An object that others refer to before it is complete.
// Unchecked because the tests set its friends before they merge it.
final class Person: ConsistentObject, @unchecked Sendable {
  let id: String
  let name: String
  var friends: [Person] = []

  init(_ id: String, _ name: String) {
    self.id = id
    self.name = name
  }

  var properties: [Property] { [("id", id), ("name", name), ("friends", friends)] }

  func setting(property: Property) -> Person {
    let copy = Person(id, property.label == "name" ? property.value as? String ?? name : name)
    copy.friends = property.label == "friends" ? property.value as? [Person] ?? friends : friends
    return copy
  }
}

struct Node: ConsistentObject {
  let id: String
  var name: String
  var friends: [Node]
  var badge: Badge?

  init(_ id: String, _ name: String, _ friends: [Node], badge: Badge? = nil) {
    self.id = id
    self.name = name
    self.friends = friends
    self.badge = badge
  }

  var all: [Node] { [self] + friends.flatMap(\.all) }

  var properties: [Property] { [("id", id), ("name", name), ("friends", friends), ("badge", badge)] }

  func setting(property: Property) -> Node {
    var copy = self
    switch property.label {
    case "name": if let value = property.value as? String { copy.name = value }
    case "friends": if let value = property.value as? [Node] { copy.friends = value }
    case "badge": if let value = property.value as? Badge? { copy.badge = value }
    default: break
    }
    return copy
  }
}
