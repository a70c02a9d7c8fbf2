import Concord
import ConcordModel
import Foundation

/// The remembered deletions of a memory store.
struct MemoryDeletions {
  struct Entry {
    let stamp: Stamp
    let date: Date
    fileprivate let number: Int
  }

  private var entries: [EntityKey: Entry] = [:]
  /// All entries in the order of their numbers; an entry that was replaced stands there in vain.
  private var order: ArraySlice<(key: EntityKey, number: Int)> = []
  private var last = 0

  subscript(key: EntityKey) -> Entry? { entries[key] }

  /// Remembers a deletion.
  mutating func note(_ key: EntityKey, _ stamp: Stamp, at date: Date = Date()) {
    last += 1
    entries[key] = Entry(stamp: max(stamp, entries[key]?.stamp ?? stamp), date: date, number: last)
    order.append((key, last))
  }

  /// Takes back what was noted about an entity.
  mutating func restore(_ key: EntityKey, _ entry: Entry?) { entries[key] = entry }

  /// Forgets some of the oldest deletions before a date.
  mutating func forget(before date: Date, atMost count: Int, now: Date = Date()) {
    for _ in 0..<count {
      guard let first = order.first else { return }
      if let entry = entries[first.key], entry.number == first.number {
        if entry.date > now {
          // It was noted while the clock was ahead, and would keep all that was noted after it.
          order.append(first)
        } else if entry.date < date {
          entries[first.key] = nil
        } else {
          return
        }
      }
      order.removeFirst()
    }
    // A slice keeps the memory of what was removed from it.
    if order.startIndex > order.count { order = ArraySlice(Array(order)) }
  }
}
