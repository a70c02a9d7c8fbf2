extension String {
  /// The first text after all texts with this prefix, in the order of the scalars; `nil` if there is none.
  package var endOfPrefix: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      // Between the two are the surrogates, which are no scalars.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      if let next = Unicode.Scalar(next) {
        scalars.append(next)
        var end = String.UnicodeScalarView()
        end.append(contentsOf: scalars)
        return String(end)
      }
    }
    return nil
  }
}
