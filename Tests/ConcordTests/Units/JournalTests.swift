import ConcordTestHeap
import Testing

@testable import Concord

@Suite("The journal")
struct JournalTests {
  private let graph = Graph()
  private var journal: Journal { graph.journal }
  private let nodes: [EntityNode<Tag>]

  init() {
    let table = graph.table(Tag.self)
    let graph = graph
    nodes = (0..<6).map {
      table.insert(Tag(id: $0, text: 0), id: $0, hash: IDHash.hash($0), known: nil, in: graph).use { $0 }
    }
  }

  private func write(_ node: EntityNode<Tag>, _ text: Int) {
    journal.willWrite(node)
    journal.countWrite()
    node.value?.text = text
  }

  private func text(_ state: SavedState?) -> Int? { (state as? SavedValue<Tag>)?.value?.text }
  private func committed(_ node: EntityNode<Tag>) -> Int? { text(journal.committedState(of: node)) }

  /// Undoes what was done since the innermost savepoint.
  private func rollBack() {
    _ = journal.undo { $0.node.table.restoreValue(of: $0.node, from: $0) }
  }

  @Test("Outside of a transaction nothing is saved")
  func closed() {
    write(nodes[0], 1)
    journal.willRefresh(nodes[1])
    #expect(journal.isEmpty && !journal.isRecording && journal.writeCount == 1)
    #expect(journal.committedState(of: nodes[0]) == nil && nodes[0].journalIndex == -1)
  }

  @Test("The state before the first write is the committed one, whatever comes after")
  func committedState() {
    let outer = journal.begin()
    #expect(outer == 0 && journal.isRecording)
    write(nodes[0], 1)
    write(nodes[0], 2)
    #expect(journal.count == 1 && committed(nodes[0]) == 0 && committed(nodes[1]) == nil)
    let savepoint = journal.begin()
    write(nodes[0], 3)
    write(nodes[1], 3)
    write(nodes[0], 4)
    #expect(journal.count == 3 && committed(nodes[0]) == 0 && committed(nodes[1]) == 0)
    #expect(text(journal.firstState(of: nodes[0], since: 1)) == 2)
    #expect(text(journal.firstState(of: nodes[0], since: 0)) == 0)
    #expect(journal.firstState(of: nodes[0], since: 3) == nil && journal.firstState(of: nodes[2], since: 0) == nil)
    journal.end(savepoint)
    journal.end(outer)
    #expect(journal.writtenStates.map { text($0) } == [0, 0])
  }

  @Test("A part that throws goes back to where it began, and the rest stays")
  func savepoints() {
    let outer = journal.begin()
    write(nodes[0], 1)
    let inner = journal.begin()
    write(nodes[0], 2)
    write(nodes[1], 2)
    let innermost = journal.begin()
    write(nodes[1], 3)
    write(nodes[2], 3)
    journal.end(innermost)
    rollBack()
    #expect(nodes.prefix(3).map { $0.value?.text } == [1, 0, 0] && journal.count == 1)
    #expect(nodes.prefix(3).map(\.journalIndex) == [0, -1, -1])
    journal.end(inner)
    // What is written now counts as the outer's, which had saved it.
    write(nodes[0], 5)
    #expect(journal.count == 1)
    rollBack()
    journal.end(outer)
    #expect(nodes[0].value?.text == 0 && journal.isEmpty && nodes[0].journalIndex == -1)
  }

  @Test("What a part wrote, that did not throw, goes back with the part around it")
  func innerGoesWithOuter() {
    let outer = journal.begin()
    let inner = journal.begin()
    write(nodes[0], 1)
    journal.end(inner)
    // Saved already since the outer savepoint.
    write(nodes[0], 2)
    #expect(journal.count == 1)
    rollBack()
    journal.end(outer)
    #expect(nodes[0].value?.text == 0)
  }

  @Test("What is taken back comes the latest first")
  func latestFirst() {
    let outer = journal.begin()
    for i in 0..<3 { write(nodes[i], 1) }
    let inner = journal.begin()
    write(nodes[0], 2)
    journal.end(inner)
    var texts: [Int?] = []
    _ = journal.undo { texts.append(text($0)) }
    #expect(texts == [1, 0, 0, 0])
    journal.end(outer)
    #expect(journal.isEmpty && nodes.allSatisfy { $0.journalIndex == -1 })
  }

  @Test("Undoing says which nodes were up to date at the savepoint")
  func upToDate() {
    let outer = journal.begin()
    // Nothing was written yet, so that bringing it up to date again would not be undone.
    journal.willInvalidate(nodes[3])
    write(nodes[0], 1)
    journal.willInvalidate(nodes[1])
    nodes[2].flags.insert(.stale)
    write(nodes[2], 1)
    // It was not up to date when it was written, and so not before.
    journal.willInvalidate(nodes[2])
    let inner = journal.begin()
    write(nodes[3], 1)
    journal.willInvalidate(nodes[4])
    #expect(Set(ids(journal.undo { _ in })) == [3, 4])
    journal.end(inner)
    #expect(Set(ids(journal.undo { journal.willInvalidate($0.node) })) == [0, 1])
    journal.end(outer)
    journal.commit()
    nodes[2].flags.remove(.stale)
  }

  private func ids(_ nodes: ContiguousArray<Node>) -> [Int] { nodes.compactMap { $0.typed(Tag.self)?.value?.id } }

  @Test("Bringing a value up to date is saved beside a write, is undone like it, and is none")
  func refreshing() {
    let outer = journal.begin()
    // As long as nothing was written, nothing can show what is not committed.
    journal.willRefresh(nodes[0])
    #expect(journal.isEmpty)
    write(nodes[1], 1)
    journal.willRefresh(nodes[0])
    nodes[0].value?.text = 7
    #expect(journal.count == 2 && !journal.isWritten(nodes[0]) && journal.isWritten(nodes[1]))
    #expect(!journal.isWritten(nodes[2]))
    let inner = journal.begin()
    write(nodes[0], 8)
    #expect(journal.isWritten(nodes[0]))
    rollBack()
    journal.end(inner)
    #expect(nodes[0].value?.text == 7 && !journal.isWritten(nodes[0]))
    write(nodes[0], 9)
    #expect(journal.count == 2 && journal.isWritten(nodes[0]))
    rollBack()
    journal.end(outer)
    #expect(nodes[0].value?.text == 0)
  }

  @Test("The first save of a transaction takes the mark of an earlier write away, a later one does not")
  func writtenMark() {
    nodes[0].flags.insert(.written)
    let outer = journal.begin()
    write(nodes[0], 1)
    #expect(!nodes[0].flags.contains(.written))
    nodes[0].flags.insert(.written)
    let inner = journal.begin()
    write(nodes[0], 2)
    #expect(nodes[0].flags.contains(.written))
    journal.end(inner)
    journal.end(outer)
  }

  @Test("A commit forgets all, and recording ends, unless somebody follows")
  func committing() {
    for isFollowed in [false, true] {
      journal.follow(isFollowed)
      let outer = journal.begin()
      write(nodes[0], 1)
      let inner = journal.begin()
      write(nodes[1], 1)
      journal.end(inner)
      journal.end(outer)
      journal.commit()
      #expect(journal.isEmpty && journal.isRecording == isFollowed)
      #expect(nodes.allSatisfy { $0.journalIndex == -1 } && journal.committedState(of: nodes[0]) == nil)
      write(nodes[0], 2)
      #expect(journal.count == (isFollowed ? 1 : 0))
      journal.commit()
    }
  }

  @Test("After a peak the journal gives its room back, also of what was undone")
  func givesBack() async {
    await #expect(processExitsWith: .success) {
      let graph = Graph()
      let table = graph.table(Tag.self)
      let nodes = (0..<50_000).map { EntityNode<Tag>(table: table, value: Tag(id: $0, text: 0)) }
      let before = heapInUse()
      let outer = graph.journal.begin()
      for node in nodes { graph.journal.willWrite(node) }
      _ = graph.journal.undo { _ in }
      graph.journal.end(outer)
      graph.journal.commit()
      let more = heapInUse() - before
      #expect(more < 100_000 && graph.journal.isEmpty, "\(more) bytes")
    }
  }

  @Test("A closure that wrote nothing leaves nothing to be recorded, one that did goes on")
  func pausing() {
    _ = journal.begin()
    journal.pause()
    #expect(!journal.isRecording)
    _ = journal.begin()
    write(nodes[0], 1)
    journal.pause()
    #expect(journal.isRecording)
    write(nodes[1], 1)
    #expect(journal.count == 2)
    journal.commit()
    journal.follow(true)
    _ = journal.begin()
    journal.pause()
    #expect(journal.isRecording)
  }

  @Test("Who begins to follow has the next write; what an open transaction records outlasts who ceases to")
  func following() {
    journal.follow(true)
    write(nodes[0], 1)
    #expect(journal.count == 1 && committed(nodes[0]) == 0)
    journal.follow(false)
    write(nodes[1], 1)
    #expect(journal.count == 2)
    journal.commit()
    #expect(!journal.isRecording)
    write(nodes[2], 1)
    #expect(journal.isEmpty)
  }

  @Test("Random parts, some of which throw, as copies of everything have it", arguments: 0..<20)
  func random(seed: UInt64) {
    /// A part of the transaction: what all was before, where its entries begin, and what it wrote.
    struct Part {
      var before: [Int]
      var start: Int
      var outer: Int
      var written: Set<Int> = []
    }
    var random = SeededGenerator(seed: seed)
    var parts: [Part] = []
    func now() -> [Int] { nodes.map { $0.value?.text ?? -1 } }
    func begin() {
      let start = journal.count
      parts.append(Part(before: now(), start: start, outer: journal.begin()))
    }
    func check(_ step: Int) -> Bool {
      nodes.indices.allSatisfy { i in
        let node = nodes[i]
        let isWritten = parts.contains { $0.written.contains(i) }
        return (committed(node) ?? node.value?.text) == parts.first?.before[i]
          && parts.allSatisfy { (text(journal.firstState(of: node, since: $0.start)) ?? now()[i]) == $0.before[i] }
          && journal.isWritten(node) == isWritten
      }
    }
    begin()
    for step in 0..<300 {
      let i = random.below(nodes.count)
      switch random.below(10) {
      case 0, 1: begin()
      case 2, 3:
        guard parts.count > 1, let part = parts.popLast() else { break }
        if random.chance(50) {
          rollBack()
          #expect(now() == part.before, "seed \(seed), step \(step)")
        } else {
          parts[parts.count - 1].written.formUnion(part.written)
        }
        journal.end(part.outer)
      case 4 where !journal.isEmpty:
        journal.willRefresh(nodes[i])
        nodes[i].value?.text += 1
      default:
        write(nodes[i], step + 1_000)
        parts[parts.count - 1].written.insert(i)
      }
      guard check(step) else {
        Issue.record("seed \(seed), step \(step)")
        return
      }
    }
    while let part = parts.popLast() { journal.end(part.outer) }
    journal.commit()
    #expect(nodes.allSatisfy { $0.journalIndex == -1 } && journal.isEmpty && !journal.isRecording)
  }
}
