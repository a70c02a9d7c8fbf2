extension Array {
  /// The array with those elements replaced for which `newer` gives something, `nil` if there are none.
  ///
  /// It ends where nothing is newer and `isOver` says so. `newer` gets a pointer, and reads through it: a large struct is
  /// copied, with all references in it counted, when it is passed otherwise.
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
