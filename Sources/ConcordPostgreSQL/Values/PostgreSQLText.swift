#if PostgreSQL
  import Foundation

  /// Texts as the server keeps them, which cannot keep U+0000.
  ///
  /// U+0000 is kept as U+0001 U+0001, and U+0001 as U+0001 U+0002. All other texts are kept as they are. Different texts stay different, and are
  /// ordered by their bytes as before.
  enum PostgreSQLText {
    private static let mark: UInt8 = 1

    static func encode(_ text: String) -> String {
      var text = text
      // Most texts have neither, which this finds out for many bytes at once.
      let isPlain = text.withUTF8 { bytes in
        guard let start = bytes.baseAddress else { return true }
        return memchr(start, 0, bytes.count) == nil && memchr(start, Int32(mark), bytes.count) == nil
      }
      if isPlain { return text }
      var bytes: [UInt8] = []
      for byte in text.utf8 {
        if byte > mark { bytes.append(byte) } else { bytes += [mark, byte + 1] }
      }
      return String(decoding: bytes, as: UTF8.self)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer) -> String {
      // Most texts have none, which this finds out for many bytes at once.
      guard let start = bytes.baseAddress, memchr(start, Int32(mark), bytes.count) != nil else {
        return String(decoding: bytes, as: UTF8.self)
      }
      var found: [UInt8] = []
      var index = 0
      while index < bytes.count {
        let byte = bytes[index]
        index += 1
        // Another program may have written a mark that is none.
        if byte == mark, index < bytes.count, bytes[index] == 1 || bytes[index] == 2 {
          found.append(bytes[index] - 1)
          index += 1
        } else {
          found.append(byte)
        }
      }
      return String(decoding: found, as: UTF8.self)
    }
  }
#endif
