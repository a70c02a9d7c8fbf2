extension String {
  /// Returns its parts between spaces, at least one. The last one, of whatever text, may begin with a mark that combines with the space before it.
  package func splitAtSpaces(maxSplits: Int) -> [String] {
    utf8.split(separator: UInt8(ascii: " "), maxSplits: maxSplits, omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
  }
}
