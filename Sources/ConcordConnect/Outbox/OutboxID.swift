import ConcordPersistence

/// The identity of a row of an outbox: its store and its number, since numbers repeat between stores.
///
/// Ordered by the time of forwarding; all rows of a store that was attached earlier precede those of a later one.
struct OutboxID: Hashable, Comparable {
  let attachment: StoreAttachment
  /// The epoch of the outbox: another one after its file was replaced.
  let epoch: Int64
  let number: Int64

  static func < (a: Self, b: Self) -> Bool {
    (a.attachment, a.number, a.epoch) < (b.attachment, b.number, b.epoch)
  }
}
