/// The nodes whose values may have changed in the open transaction, in the order of the changes, once somebody reads within it what is made of
/// many: so a reading looks at what changed since the one before.
///
/// What is undone changes values, too, and is noted like a change. So no node is ever taken out; of one that changes again and again the last
/// note stays, which stands behind each mark that an earlier one does.
final class ChangeTrace {
  /// The number of the transaction, which no other one has.
  @exclusivity(unchecked) private(set) var number: UInt64 = 0
  @exclusivity(unchecked) private var notes: ContiguousArray<Note> = []
  /// The number of changes so far.
  @exclusivity(unchecked) private var count = 0
  /// The number of changes at the last mark.
  @exclusivity(unchecked) private var marked = 0
  /// The number of notes beyond which those are removed that have later ones.
  @exclusivity(unchecked) private var most: Int
  /// The number of notes of which none is removed: most transactions make no more.
  private let fewest: Int

  private struct Note {
    let node: Node
    /// The number of changes before it.
    let position: Int
  }

  init(fewest: Int = 4_096) { (self.fewest, most) = (fewest, fewest) }

  /// Notes a node, unless it is the last one and nobody has read since.
  ///
  /// - Complexity: amortized constant.
  func note(_ node: Node) {
    if count > marked, notes.last?.node === node { return }
    notes.append(Note(node: node, position: count))
    count += 1
    if notes.count > most { removeRepetitions() }
  }

  private func removeRepetitions() {
    var seen: Set<ObjectIdentifier> = []
    var kept: ContiguousArray<Note> = []
    for note in notes.reversed() where seen.insert(ObjectIdentifier(note.node)).inserted { kept.append(note) }
    kept.reverse()
    notes = kept
    most = max(fewest, 2 * kept.count)
  }

  /// Returns the place behind all changes so far.
  func mark() -> Int {
    marked = count
    return marked
  }

  /// Returns the nodes that changed since a mark; one may be among them several times.
  ///
  /// - Complexity: the number of these, and the logarithm of that of all.
  func nodes(since mark: Int) -> ContiguousArray<Node> {
    var (start, end) = (0, notes.count)
    while start < end {
      let middle = (start + end) / 2
      if notes[middle].position < mark { start = middle + 1 } else { end = middle }
    }
    return ContiguousArray(notes[start...].lazy.map(\.node))
  }

  /// The number of notes that are kept, for tests: at most twice that of the nodes, or a few.
  var size: Int { notes.count }

  /// Ends the transaction.
  func end() {
    number += 1
    (notes, count, marked, most) = ([], 0, 0, fewest)
  }
}
