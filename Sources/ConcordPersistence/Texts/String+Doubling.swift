extension String {
  /// Returns the text with each occurrence of an ASCII character doubled, as SQL wants it within quotes.
  ///
  /// It looks at bytes, as a parser of SQL does: a combining mark behind a quote makes another `Character` of both, and leaves the quote a quote.
  package func doubling(_ character: UInt8) -> String {
    if !utf8.contains(character) { return self }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count + 8)
    for byte in utf8 {
      bytes.append(byte)
      if byte == character { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
