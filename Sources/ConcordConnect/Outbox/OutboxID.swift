import ConcordPersistence

/// The identity of a row of an outbox: numbers alone are the same in each store.
///
/// In order: what was forwarded first is sent first, and what lies in a store that was attached earlier comes before all of a later one.
struct OutboxID: Hashable, Comparable {
  let attachment: StoreAttachment
  /// The epoch of the outbox: another one after its file was replaced.
  let epoch: Int64
  let number: Int64

  static func < (a: Self, b: Self) -> Bool {
    (a.attachment, a.number, a.epoch) < (b.attachment, b.number, b.epoch)
  }
}
