import Concord
import Testing

/// What a step inserted and others have changed since: it stays where the step has put it, whoever observes it.
@Suite("Undo of what others have changed since")
struct UndoKeptTests {
  struct KeptLeaf: Identifiable, Hashable {
    let id: Int
    var text = "mine"
  }

  private struct Branch: Aggregate, Hashable {
    let id: Int
    var text = "mine"
    var leaf: KeptLeaf?
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.leaf)] }
  }

  private struct Tree: Aggregate, Equatable {
    let id: Int
    var text = "before"
    var branches: [Branch] = []
    var top: KeptLeaf?
    var fallen: Set<KeptLeaf> = []
    var named: [String: KeptLeaf] = [:]
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
      [.init(\.branches), .init(\.top), .init(\.fallen), .init(\.named)]
    }
  }

  private let store = EntityStore(delivery: .immediate)
  private var undo: UndoHistory { store.undo }

  private func theirs(_ id: Int) { store.update(KeptLeaf.self, id: id) { $0.text = "theirs" } }

  @Test("It stays in an array, with a conflict, and nobody need observe it; what nobody has changed goes")
  func arrays() throws {
    let tree = store.store(Tree(id: 1, branches: [Branch(id: 1)]))
    undo.record("Add") { tx in
      tx.update(Tree.self, id: 1) { tree in
        tree.text = "mine"
        tree.branches += [Branch(id: 2), Branch(id: 3)]
      }
    }
    store.update(Branch.self, id: 3) { $0.text = "theirs" }
    let result = try undo.undo()
    #expect(tree.value.branches.map(\.text) == ["mine", "theirs"] && tree.value.text == "before")
    #expect(store.value(Branch.self, id: 2) == nil && store.value(Branch.self, id: 3)?.text == "theirs")
    #expect(
      result.conflicts.map(\.description) == [
        "Tree 1, branches: has been changed since", "Branch 3, text: has been changed since",
      ])
    // Redoing adds what was taken out, and no more.
    #expect(try undo.redo().conflicts.isEmpty)
    #expect(tree.value.branches.map(\.id) == [1, 2, 3] && tree.value.branches.last?.text == "theirs")
  }

  @Test("It stays in a property, a set and a dictionary")
  func otherPlaces() throws {
    let tree = store.store(Tree(id: 1))
    undo.record("Add") { tx in
      tx.update(Tree.self, id: 1) { tree in
        tree.text = "mine"
        (tree.top, tree.fallen) = (KeptLeaf(id: 1), [KeptLeaf(id: 2), KeptLeaf(id: 3)])
        tree.named = ["a": KeptLeaf(id: 4), "b": KeptLeaf(id: 5)]
      }
    }
    for id in [1, 2, 4] { theirs(id) }
    let result = try undo.undo()
    #expect(tree.value.text == "before" && tree.value.top?.text == "theirs")
    #expect(tree.value.fallen.map(\.id) == [2] && Array(tree.value.named.keys) == ["a"])
    #expect(result.conflicts.compactMap(\.property).sorted() == ["fallen", "named", "text", "text", "text", "top"])
    for id in 1...5 { #expect((store.value(KeptLeaf.self, id: id) == nil) == (id == 3 || id == 5)) }
  }

  @Test("It stays in the step's place also where others have put it into another one")
  func twice() throws {
    let tree = store.store(Tree(id: 1))
    undo.record("Add") { $0.update(Tree.self, id: 1) { $0.top = KeptLeaf(id: 1) } }
    store.update(Tree.self, id: 1) { $0.fallen = [KeptLeaf(id: 1)] }
    theirs(1)
    #expect(throws: UndoError.self) { try undo.undo() }
    #expect(tree.value.top?.text == "theirs" && tree.value.fallen.map(\.text) == ["theirs"])
  }

  @Test("What the step inserted around it stays, too")
  func around() throws {
    let tree = store.store(Tree(id: 1))
    undo.record("Add") { tx in
      tx.update(Tree.self, id: 1) { tree in
        tree.branches = [Branch(id: 1, leaf: KeptLeaf(id: 1)), Branch(id: 2, leaf: KeptLeaf(id: 2))]
      }
    }
    theirs(2)
    let result = try undo.undo()
    #expect(tree.value.branches == [Branch(id: 2, leaf: KeptLeaf(id: 2, text: "theirs"))])
    #expect(store.value(KeptLeaf.self, id: 1) == nil)
    #expect(
      Set(result.conflicts.map(\.description)) == [
        "Tree 1, branches: has been changed since", "Branch 2: has been changed since",
        "KeptLeaf 2, text: has been changed since",
      ])
  }

  @Test("An alias that the step gave it stays, too")
  func aliases() throws {
    undo.record("Name") { tx in
      tx.store(KeptLeaf(id: 1), named: .undoKeptLeaf)
      tx.store([KeptLeaf(id: 2), KeptLeaf(id: 3)], named: .undoKeptLeaves)
    }
    theirs(1)
    theirs(3)
    // All that is taken back would be the other leaf: the list is an alias that the step made, and stays.
    let error = #expect(throws: UndoError.self) { try undo.undo() }
    guard case .overtaken(_, let conflicts) = try #require(error) else {
      Issue.record("it was undone")
      return
    }
    #expect(conflicts.contains { $0.reason == .inUse } && conflicts.contains { $0.reason == .changedSince })
    #expect(store.find(named: .undoKeptLeaf).value?.text == "theirs")
    #expect(store.find(named: .undoKeptLeaves).value?.map(\.id) == [2, 3])
    // An alias that named something before.
    undo.record("Add") { tx in
      _ = tx.update(named: .undoKeptLeaves) { $0 += [KeptLeaf(id: 4), KeptLeaf(id: 5)] }
    }
    theirs(5)
    #expect(try undo.undo().conflicts.count == 2)
    #expect(store.find(named: .undoKeptLeaves).value?.map(\.id) == [2, 3, 5])
  }

  @Test("What undoing has put back and others have changed since is not taken away by redoing")
  func redo() throws {
    let tree = store.store(Tree(id: 1, branches: [Branch(id: 1), Branch(id: 2)]))
    undo.record("Clear") { tx in
      tx.update(Tree.self, id: 1) { ($0.text, $0.branches) = ("mine", []) }
    }
    #expect(store.value(Branch.self, id: 1) == nil)
    try undo.undo()
    store.update(Branch.self, id: 2) { $0.text = "theirs" }
    let result = try undo.redo()
    #expect(tree.value.text == "mine" && tree.value.branches.map(\.text) == ["theirs"])
    #expect(result.conflicts.count == 2 && store.value(Branch.self, id: 1) == nil)
  }

  private struct Person: Aggregate, Equatable {
    let id: Int
    var name: String
    var friends: [Person] = []
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.friends)] }
  }

  @Test("It stays also where a value of a cycle does not show what was changed")
  func cycles() throws {
    let first = store.store(Person(id: 1, name: "first"))
    undo.record("Meet") { tx in
      tx.update(Person.self, id: 1) { person in
        let third = Person(id: 3, name: "third", friends: [Person(id: 1, name: "first")])
        person.friends = [Person(id: 2, name: "second", friends: [third])]
      }
    }
    #expect(store.value(Person.self, id: 3)?.name == "third")
    store.update(Person.self, id: 3) { $0.name = "theirs" }
    _ = try? undo.undo()
    #expect(first.value.friends.map(\.id) == [2] && store.value(Person.self, id: 3)?.name == "theirs")
  }

  /// Elements of an array that are no entities.
  private struct Order: Identifiable, Equatable {
    struct Item: Identifiable, Equatable {
      let id: Int
      var count = 1
    }
    let id: Int
    var note = ""
    var items: [Item] = []
  }

  @Test("An element that is no entity, and that others have changed since, stays with a conflict")
  func elements() throws {
    let order = store.store(Order(id: 1))
    undo.record("Add") { tx in
      tx.update(Order.self, id: 1) { ($0.note, $0.items) = ("mine", [.init(id: 1), .init(id: 2)]) }
    }
    store.update(Order.self, id: 1) { $0.items[1].count = 7 }
    let result = try undo.undo()
    #expect(order.value == Order(id: 1, items: [.init(id: 2, count: 7)]))
    #expect(result.conflicts.map(\.description) == ["Order 1, items: has been changed since"])
    try undo.redo()
    #expect(order.value.note == "mine" && order.value.items.map(\.id) == [1, 2])
  }

  @Test("An element that the step has changed, and that others have taken out, stays out with a conflict")
  func goneElements() throws {
    let order = store.store(Order(id: 1, items: [.init(id: 1), .init(id: 2)]))
    undo.record("Count") { tx in tx.update(Order.self, id: 1) { $0.items[0].count = 2 } }
    store.update(Order.self, id: 1) { $0.items.removeFirst() }
    let error = #expect(throws: UndoError.self) { try undo.undo() }
    guard case .overtaken(_, let conflicts) = try #require(error) else {
      Issue.record("it was undone")
      return
    }
    #expect(conflicts.map(\.description) == ["Order 1, items: has been changed since"])
    #expect(order.value.items == [.init(id: 2)] && !undo.status.canUndo && !undo.status.canRedo)
    // Beside something that can be taken back.
    undo.record("Count") { tx in
      tx.update(Order.self, id: 1) { order in
        order.note = "mine"
        order.items[0].count = 2
      }
    }
    store.update(Order.self, id: 1) { $0.items = [] }
    #expect(try undo.undo().conflicts.map(\.property) == ["items"])
    #expect(order.value == Order(id: 1))
  }

  @Test("What others have changed between the steps of a group, and then removed, is no change of the group")
  func groups() throws {
    let tree = store.store(Tree(id: 1, branches: [Branch(id: 1)], top: KeptLeaf(id: 9), named: ["a": KeptLeaf(id: 8)]))
    for text in ["m", "mine"] {
      undo.record("Typing", joining: 1) { tx in tx.update(Tree.self, id: 1) { $0.text = text } }
      store.update(Branch.self, id: 1) { $0.text = "theirs" }
      for id in [8, 9] { theirs(id) }
    }
    #expect(undo.undoSteps.count == 1)
    store.remove(Branch.self, id: 1)
    for id in [8, 9] { store.remove(KeptLeaf.self, id: id) }
    #expect(try undo.undo().conflicts.isEmpty)
    #expect(tree.value == Tree(id: 1))
  }
}

extension AliasKey where T == UndoKeptTests.KeptLeaf { static var undoKeptLeaf: Self { "kept leaf" } }
extension AliasKey where T == [UndoKeptTests.KeptLeaf] { static var undoKeptLeaves: Self { "kept leaves" } }
