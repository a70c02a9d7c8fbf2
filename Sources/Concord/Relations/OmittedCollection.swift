/// The empty collection in place of one that a brief form omits.
///
/// It has a storage of its own, by which the store recognises it in a value that is written back. An empty collection with
/// another storage is a value like any other.
package enum OmittedCollection<C> {
  /// The collection, one for each type in the process; `nil` if the type has no empty value.
  package static var value: C? { entry?.value }

  /// Whether a value is the collection in place of an omitted one.
  package static func isOmitted(_ value: C) -> Bool {
    guard let entry, entry.isRecognisable else { return false }
    return haveSameBits(value, entry.value)
  }

  private static var entry: OmittedCollectionEntry<C>? { omittedCollections.entry(of: C.self) }
}

extension OmittedCollection where C: Collection {
  @usableFromInline static func omission(of value: C) -> Omission {
    guard value.isEmpty, let entry else { return .none }
    guard entry.isRecognisable else { return .absent }
    return haveSameBits(value, entry.value) ? .omitted : .none
  }
}

private struct OmittedCollectionEntry<C> {
  let value: C
  /// Whether the storage distinguishes the collection from other empty ones.
  let isRecognisable: Bool

  init(_ value: C, beside empty: C) {
    self.value = value
    isRecognisable = !haveSameBits(value, empty)
  }
}

private let omittedCollections = OmittedCollections()

/// The collections in place of omitted ones, by type.
// Unchecked, because the compiler cannot see that `entries` is used only while `lock` is held, and that no entry changes.
private final class OmittedCollections: @unchecked Sendable {
  private let lock = Lock()
  private var entries: [ObjectIdentifier: Any] = [:]

  func entry<C>(of type: C.Type) -> OmittedCollectionEntry<C>? {
    lock.withLock {
      if let known = entries[ObjectIdentifier(type)] { return known as? OmittedCollectionEntry<C> }
      let made = makeEntry(type)
      entries[ObjectIdentifier(type)] = made as Any
      return made
    }
  }

  private func makeEntry<C>(_ type: C.Type) -> OmittedCollectionEntry<C>? {
    func reserving<R: RangeReplaceableCollection>(_: R.Type) -> OmittedCollectionEntry<C>? {
      var own = R()
      own.reserveCapacity(1)
      return entry(own, beside: R())
    }
    func entry(_ value: Any, beside empty: Any) -> OmittedCollectionEntry<C>? {
      guard let value = value as? C, let empty = empty as? C else { return nil }
      return OmittedCollectionEntry(value, beside: empty)
    }
    if let collection = type as? any RangeReplaceableCollection.Type { return reserving(collection) }
    guard let hashed = type as? any OmittableHashedCollection.Type else { return nil }
    let (own, empty) = hashed.ownAndEmpty
    return entry(own, beside: empty)
  }
}

/// A set or a dictionary, whose empty values share a storage unless capacity is reserved.
private protocol OmittableHashedCollection {
  static var ownAndEmpty: (Any, Any) { get }
}

extension Set: OmittableHashedCollection {
  fileprivate static var ownAndEmpty: (Any, Any) { (Set(minimumCapacity: 1), Set()) }
}

extension Dictionary: OmittableHashedCollection {
  fileprivate static var ownAndEmpty: (Any, Any) { (Dictionary(minimumCapacity: 1), [:] as Dictionary) }
}
