import Foundation

extension String {
  /// Whether the text has the same UTF-8 as another one.
  ///
  /// Relies on what `withContiguousStorageIfAvailable` promises: the buffers are those of the texts while its closures run.
  func hasSameBytes(as other: String) -> Bool {
    let isSame = utf8.withContiguousStorageIfAvailable { bytes in
      other.utf8.withContiguousStorageIfAvailable { others in
        guard bytes.count == others.count else { return false }
        guard let first = bytes.baseAddress, let second = others.baseAddress else { return true }
        return first == second || memcmp(first, second, bytes.count) == 0
      }
    }
    // A text of Foundation's may have no such buffer.
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}
