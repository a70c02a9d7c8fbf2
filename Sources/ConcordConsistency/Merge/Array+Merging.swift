extension Array {
  /// The array with those elements replaced for which `newer` gives something, `nil` if there are none.
  ///
  /// The elements are only borrowed: a large struct is copied, with all references in it counted, when it is passed
  /// otherwise.
  @inlinable
  @inline(__always)
  func merging(_ newer: (borrowing Element) -> Element?) -> [Element]? {
    withUnsafeBufferPointer { buffer in
      var result: [Element]?
      for index in buffer.indices {
        guard let element = newer(buffer[index]) else { continue }
        if result == nil { result = self }
        result?[index] = element
      }
      return result
    }
  }
}
