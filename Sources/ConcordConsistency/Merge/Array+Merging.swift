extension Array {
  /// Returns the array with those elements replaced for which `newer` returns a value; `nil` if there are none.
  ///
  /// It ends where nothing is newer and `isOver` returns `true`. `newer` receives a pointer, since passing a large struct
  /// would copy it, and count all references in it.
  @inlinable
  @inline(__always)
  func merging(until isOver: () -> Bool = { false }, _ newer: (UnsafePointer<Element>) -> Element?) -> [Element]? {
    withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return nil }
      var result: [Element]?
      for index in buffer.indices {
        guard let element = newer(start + index) else {
          if isOver() { break }
          continue
        }
        if result == nil { result = self }
        result?[index] = element
      }
      return result
    }
  }
}
