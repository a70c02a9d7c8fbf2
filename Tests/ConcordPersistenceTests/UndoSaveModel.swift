import Concord

/// What is stored, and how a step is taken back, by the words of the documentation: property by property, with whole copies of
/// everything.
struct UndoSaveModel: Equatable {
  struct Row: Equatable {
    var title = ""
    var stars = 0
    var singer: String?
    var verses: [Int] = []
  }

  var hymns: [Int: Row] = [:]
  /// Their names.
  var singers: [String: String] = [:]
  /// Their texts.
  var verses: [Int: String] = [:]

  /// What a step changed: what was and what is of each entity that is not the same.
  struct Step {
    var hymns: [Int: (old: Row?, new: Row?)] = [:]
    var singers: [String: (old: String?, new: String?)] = [:]
    var verses: [Int: (old: String?, new: String?)] = [:]

    var count: Int { hymns.count + singers.count + verses.count }

    init(from old: UndoSaveModel, to new: UndoSaveModel) {
      hymns = Self.changes(old.hymns, new.hymns)
      singers = Self.changes(old.singers, new.singers)
      verses = Self.changes(old.verses, new.verses)
    }

    private static func changes<K, V: Equatable>(_ old: [K: V], _ new: [K: V]) -> [K: (old: V?, new: V?)] {
      var changes: [K: (old: V?, new: V?)] = [:]
      for key in Set(old.keys).union(new.keys) where old[key] != new[key] { changes[key] = (old[key], new[key]) }
      return changes
    }
  }

  // MARK: Removing

  mutating func removeSinger(_ id: String) {
    singers[id] = nil
    for hymn in hymns.keys where hymns[hymn]?.singer == id { hymns[hymn]?.singer = nil }
  }

  mutating func removeVerse(_ id: Int) {
    verses[id] = nil
    for hymn in hymns.keys { hymns[hymn]?.verses.removeAll { $0 == id } }
  }

  // MARK: Taking back

  /// Takes a step back, and returns what stays: the entity, the property and the reason.
  mutating func revert(_ step: Step) -> [String] {
    var conflicts: [String] = []
    let kept = kept(step)
    restore(step, &conflicts)
    for (id, change) in step.hymns { update(id, change, kept, &conflicts) }
    Self.updateTexts(step.singers, &singers, "Singer", "name", &conflicts)
    Self.updateTexts(step.verses, &verses, "Verse", "text", &conflicts)
    removeInserted(step, kept, &conflicts)
    return conflicts.sorted()
  }

  /// What a step inserted and others have changed since, with the hymns that it inserted and that have such.
  private struct Kept {
    var hymns: Set<Int> = []
    var singers: Set<String> = []
    var verses: Set<Int> = []
  }

  private func kept(_ step: Step) -> Kept {
    var kept = Kept()
    for (id, change) in step.singers where change.old == nil && singers[id] != nil && singers[id] != change.new {
      kept.singers.insert(id)
    }
    for (id, change) in step.verses where change.old == nil && verses[id] != nil && verses[id] != change.new {
      kept.verses.insert(id)
    }
    for (id, change) in step.hymns where change.old == nil {
      guard let hymn = hymns[id] else { continue }
      if hymn != change.new || (hymn.singer.map { kept.singers.contains($0) } ?? false)
        || !kept.verses.isDisjoint(with: hymn.verses)
      {
        kept.hymns.insert(id)
      }
    }
    return kept
  }

  private mutating func restore(_ step: Step, _ conflicts: inout [String]) {
    for (id, change) in step.singers where change.new == nil {
      if let present = singers[id] {
        if present != change.old { conflicts.append("Singer \(id) - storedSince") }
      } else {
        singers[id] = change.old
      }
    }
    for (id, change) in step.verses where change.new == nil {
      if let present = verses[id] {
        if present != change.old { conflicts.append("Verse \(id) - storedSince") }
      } else {
        verses[id] = change.old
      }
    }
    for (id, change) in step.hymns where change.new == nil {
      if let present = hymns[id] {
        if present != change.old { conflicts.append("Hymn \(id) - storedSince") }
      } else if var row = change.old {
        if let singer = row.singer, singers[singer] == nil {
          row.singer = nil
          conflicts.append("Hymn \(id) singer notStored")
        }
        if row.verses.contains(where: { verses[$0] == nil }) {
          row.verses.removeAll { verses[$0] == nil }
          conflicts.append("Hymn \(id) verses notStored")
        }
        hymns[id] = row
      }
    }
  }

  private mutating func update(
    _ id: Int, _ change: (old: Row?, new: Row?), _ kept: Kept, _ conflicts: inout [String]
  ) {
    guard let old = change.old, let new = change.new else { return }
    guard var row = hymns[id] else {
      conflicts.append("Hymn \(id) - notStored")
      return
    }
    func set<V: Equatable>(
      _ property: WritableKeyPath<Row, V>, _ name: String, isMissing: Bool = false, isKept: Bool = false
    ) {
      let (before, after, present) = (old[keyPath: property], new[keyPath: property], row[keyPath: property])
      if before == after || present == before { return }
      if present != after || isKept { return conflicts.append("Hymn \(id) \(name) changedSince") }
      if isMissing { return conflicts.append("Hymn \(id) \(name) notStored") }
      row[keyPath: property] = before
    }
    set(\.title, "title")
    set(\.stars, "stars")
    set(
      \.singer, "singer", isMissing: old.singer.map { singers[$0] == nil } ?? false,
      isKept: row.singer.map { kept.singers.contains($0) } ?? false)
    if old.verses != new.verses, row.verses != old.verses {
      let isMissing = old.verses.contains { verses[$0] == nil && !row.verses.contains($0) }
      let isStaying = row.verses.contains { kept.verses.contains($0) && new.verses.contains($0) }
      if row.verses == new.verses, !isMissing, !isStaying {
        row.verses = old.verses
      } else {
        let isUntouched = row.verses == new.verses && !isStaying
        let isWhole = revertVerses(from: new.verses, to: old.verses, in: &row.verses, kept.verses)
        if isUntouched {
          conflicts.append("Hymn \(id) verses notStored")
        } else if !isWhole {
          conflicts.append("Hymn \(id) verses changedSince")
        }
      }
    }
    hymns[id] = row
  }

  private func revertVerses(from new: [Int], to old: [Int], in present: inout [Int], _ kept: Set<Int>) -> Bool {
    var isWhole = !present.contains { new.contains($0) && !old.contains($0) && kept.contains($0) }
    present.removeAll { new.contains($0) && !old.contains($0) && !kept.contains($0) }
    let places = present.indices.filter { old.contains(present[$0]) && new.contains(present[$0]) }
    let common = places.map { present[$0] }
    let (former, made) = (old.filter(common.contains), new.filter(common.contains))
    if former != made, common == made {
      for (place, verse) in zip(places, former) { present[place] = verse }
    } else if former != made, common != former {
      isWhole = false
    }
    for (index, verse) in old.enumerated() where !new.contains(verse) && !present.contains(verse) {
      if verses[verse] == nil {
        isWhole = false
        continue
      }
      let neighbour = old[..<index].last { present.contains($0) }
      let place = neighbour.flatMap { present.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
      present.insert(verse, at: place)
    }
    return isWhole
  }

  private static func updateTexts<K: Hashable>(
    _ changes: [K: (old: String?, new: String?)], _ texts: inout [K: String], _ type: String, _ property: String,
    _ conflicts: inout [String]
  ) {
    for (id, change) in changes {
      guard let old = change.old, let new = change.new else { continue }
      switch texts[id] {
      case nil: conflicts.append("\(type) \(id) - notStored")
      case old: break
      case new: texts[id] = old
      default: conflicts.append("\(type) \(id) \(property) changedSince")
      }
    }
  }

  private mutating func removeInserted(_ step: Step, _ kept: Kept, _ conflicts: inout [String]) {
    for (id, change) in step.hymns where change.old == nil {
      guard let present = hymns[id], let new = change.new else { continue }
      if present == new, !kept.hymns.contains(id) {
        hymns[id] = nil
      } else if present == new {
        conflicts.append("Hymn \(id) - changedSince")
      } else {
        let property =
          present.title != new.title
          ? "title" : present.stars != new.stars ? "stars" : present.singer != new.singer ? "singer" : "verses"
        conflicts.append("Hymn \(id) \(property) changedSince")
      }
    }
    for (id, change) in step.singers where change.old == nil && singers[id] != nil {
      if singers[id] != change.new {
        conflicts.append("Singer \(id) name changedSince")
      } else if hymns.values.contains(where: { $0.singer == id }) {
        conflicts.append("Singer \(id) - inUse")
      } else {
        singers[id] = nil
      }
    }
    for (id, change) in step.verses where change.old == nil && verses[id] != nil {
      if verses[id] != change.new {
        conflicts.append("Verse \(id) text changedSince")
      } else if hymns.values.contains(where: { $0.verses.contains(id) }) {
        conflicts.append("Verse \(id) - inUse")
      } else {
        verses[id] = nil
      }
    }
  }
}
