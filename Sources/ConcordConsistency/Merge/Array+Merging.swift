extension Array {
  /// The array with those elements replaced for which `newer` gives something, `nil` if there are none.
  ///
  /// `newer` must not change its argument: it is `inout` only because a large struct is copied, with all references in
  /// it counted, when it is passed otherwise.
  @inlinable
  @inline(__always)
  func merging(_ newer: (inout Element) -> Element?) -> [Element]? {
    withUnsafeBufferPointer { buffer in
      guard let start = UnsafeMutablePointer(mutating: buffer.baseAddress) else { return nil }
      var result: [Element]?
      for index in buffer.indices {
        guard let element = newer(&start[index]) else { continue }
        if result == nil { result = self }
        result?[index] = element
      }
      return result
    }
  }
}
