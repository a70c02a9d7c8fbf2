/// The words of a text, as a search compares them: runs of letters and digits, without accents and case.
package struct FoldedText: Sendable {
  /// A word: where its folded form is, and where it stands in the text, in bytes.
  package struct Word: Sendable, Equatable {
    var start: Int
    var end: Int
    var sourceStart: Int
    var sourceEnd: Int
  }

  /// The folded words, one after the other.
  private(set) var bytes: [UInt8] = []
  private(set) var words: [Word] = []

  /// - Complexity: the length of the text.
  package init(_ text: String) {
    var text = text
    text.withUTF8 { fold($0) }
  }

  init(bytes: [UInt8], words: [Word]) { (self.bytes, self.words) = (bytes, words) }

  /// - Parameter bytes: the UTF-8 of a text; what is none is read as Swift reads it.
  init(bytes: UnsafeBufferPointer<UInt8>) {
    guard bytes.allSatisfy({ $0 < 0x80 }) else {
      self.init(String(decoding: bytes, as: UTF8.self))
      return
    }
    self.init(bytes: [], words: [])
    fold(bytes)
  }

  /// - Parameter source: valid UTF-8.
  private mutating func fold(_ source: UnsafeBufferPointer<UInt8>) {
    bytes.reserveCapacity(source.count)
    words.reserveCapacity(source.count / 8)
    var writer = Writer()
    var index = 0
    while index < source.count {
      let byte = source[index]
      guard byte < 0x80 else {
        index += appendScalar(source, index, &writer)
        continue
      }
      if Self.isLetter(byte) {
        let start = index
        begin(&writer, at: start, isIdeograph: false)
        repeat {
          // The lower case of letters; digits have the bit.
          bytes.append(source[index] | 0x20)
          index += 1
        } while index < source.count && Self.isLetter(source[index])
        writer.marks = []
      } else {
        end(&writer)
        index += 1
      }
      writer.sourceEnd = index
    }
    end(&writer)
  }

  /// The word that is being written.
  private struct Writer {
    var word: Word?
    var isIdeograph = false
    /// The end of the last scalar of the text that belongs to the word.
    var sourceEnd = 0
    /// The marks since the last letter: their combining classes, and where they begin.
    var marks: [(order: UInt8, start: Int)] = []
    var table: ScalarFolding.Table?
  }

  /// Whether a byte is a letter or a digit of ASCII.
  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 }

  private mutating func begin(_ writer: inout Writer, at index: Int, isIdeograph: Bool) {
    if writer.word != nil, isIdeograph || writer.isIdeograph { end(&writer) }
    if writer.word == nil {
      writer.word = Word(start: bytes.count, end: 0, sourceStart: index, sourceEnd: 0)
      writer.isIdeograph = isIdeograph
    }
  }

  private mutating func end(_ writer: inout Writer) {
    guard var word = writer.word else { return }
    (word.end, word.sourceEnd) = (bytes.count, writer.sourceEnd)
    words.append(word)
    writer.word = nil
    writer.marks = []
  }

  /// - Returns: the number of bytes of the scalar.
  private mutating func appendScalar(
    _ source: UnsafeBufferPointer<UInt8>, _ index: Int, _ writer: inout Writer
  ) -> Int {
    // A string's bytes are valid UTF-8.
    var value = UInt32(source[index])
    let count = value < 0xE0 ? 2 : value < 0xF0 ? 3 : 4
    value &= count == 2 ? 0x1F : count == 3 ? 0x0F : 0x07
    for byte in source[min(index + 1, source.count)..<min(index + count, source.count)] {
      value = value << 6 | UInt32(byte & 0x3F)
    }
    let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
    var table = writer.table ?? ScalarFolding.Table()
    writer.table = nil
    for piece in table.folding(of: scalar).pieces { append(piece, index, index + count, &writer) }
    writer.table = table
    // What is dropped belongs to the word that it follows.
    if writer.word != nil { writer.sourceEnd = index + count }
    return count
  }

  private mutating func append(_ piece: ScalarFolding.Piece, _ start: Int, _ end: Int, _ writer: inout Writer) {
    switch piece {
    case .end:
      self.end(&writer)
      return
    case .letters(let letters):
      begin(&writer, at: start, isIdeograph: false)
      bytes += letters
      writer.marks = []
    case .ideograph(let letters):
      begin(&writer, at: start, isIdeograph: true)
      bytes += letters
      writer.marks = []
    case .mark(let mark, let order):
      if writer.word == nil { begin(&writer, at: start, isIdeograph: false) }
      if order == 0 {
        bytes += mark
        writer.marks = []
        break
      }
      // In the canonical order, since texts that are equal may have their marks in another one.
      let position = writer.marks.firstIndex { $0.order > order } ?? writer.marks.count
      let place = position < writer.marks.count ? writer.marks[position].start : bytes.count
      bytes.insert(contentsOf: mark, at: place)
      for later in position..<writer.marks.count { writer.marks[later].start += mark.count }
      writer.marks.insert((order, place), at: position)
    }
    writer.sourceEnd = end
  }

  /// The folded form of a word.
  subscript(_ word: Word) -> ArraySlice<UInt8> { bytes[word.start..<word.end] }

  /// The folded words as texts.
  var texts: [String] { words.map { String(decoding: self[$0], as: UTF8.self) } }
}
