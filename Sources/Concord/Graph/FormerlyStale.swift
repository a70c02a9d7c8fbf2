/// The occurrences that were stale since a value was saved for layers. The saved value may show something old there, also if the
/// present one does not any longer.
final class FormerlyStale {
  private var ordinals = StaleSet()
  private var areAll = false

  func insert(_ ordinal: Int32) { ordinals.insert(ordinal) }

  /// The present value was replaced, so that it is not known where it showed something else.
  func insertAll() { areAll = true }

  /// Calls a closure with each ordinal of a list.
  func forEach(in list: ChildList, _ body: (Int32) -> Void) {
    let ordinals = areAll ? list.ordinals { _ in true } : ordinals.ordinals()
    for ordinal in ordinals { body(ordinal) }
  }
}
