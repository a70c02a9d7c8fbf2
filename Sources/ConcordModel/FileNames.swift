/// Names as a file system reads them. It compares bytes, where Swift compares characters: a "/" together with an accent or a joiner behind it is
/// one character, and not "/".
extension String {
  /// The greatest number of bytes in the name of a file.
  package static var mostBytesOfFileName: Int { 255 }

  /// The names of which a path consists.
  package var fileNames: [String] {
    utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
  }

  /// Whether the text has none of the bytes that no name of a file has.
  package var isPartOfFileName: Bool { !utf8.contains(UInt8(ascii: "/")) && !utf8.contains(0) }
}
