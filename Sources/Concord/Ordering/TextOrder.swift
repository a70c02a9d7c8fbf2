import Foundation

/// The order of texts: by the scalars of their composed form (Unicode's NFC), as the standard library documents that of `String`.
///
/// The standard library's `<` contradicts itself on some texts that begin alike but are composed differently: of a decomposed "é" and a
/// composed "éa" neither precedes the other. A sort needs an order, so all sorts use this one. It is the same in all other cases.
package enum TextOrder {
  /// Less than 0 if `a` comes first, 0 if the two are equal as strings, more if `b` does.
  package static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    decided(a, b) ?? compareComposed(String(decoding: a, as: UTF8.self), String(decoding: b, as: UTF8.self))
  }

  package static func compare(_ a: String, _ b: String) -> Int {
    withBytes(a, b) { decided($0, $1) } ?? compareComposed(a, b)
  }

  /// Compares two texts as Swift's `<` does: 0 if neither is less than the other.
  package static func compareAsSwift(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    decided(a, b) ?? compareAsSwift(String(decoding: a, as: UTF8.self), String(decoding: b, as: UTF8.self))
  }

  package static func compareAsSwift(_ a: String, _ b: String) -> Int { a < b ? -1 : b < a ? 1 : 0 }

  private static func compareComposed(_ a: String, _ b: String) -> Int {
    withBytes(a.canonicallyComposed, b.canonicallyComposed) { a, b in
      let result = memcmp(a, b)
      return result == 0 ? a.count - b.count : result
    }
  }

  private static func memcmp(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    let count = min(a.count, b.count)
    guard count > 0, let first = a.baseAddress, let second = b.baseAddress else { return 0 }
    return Int(Foundation.memcmp(first, second, count))
  }

  private static func withBytes<R>(
    _ a: String, _ b: String, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> R
  ) -> R {
    var (a, b) = (a, b)
    return a.withUTF8 { a in b.withUTF8 { b in body(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b)) } }
  }

  /// The order by the first scalars that differ, if these and what follows them are plain; `nil` if that does not tell it.
  private static func decided(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int? {
    let count = min(a.count, b.count)
    var index = 0
    // Eight bytes at a time.
    while index + 8 <= count,
      a.loadUnaligned(fromByteOffset: index, as: UInt64.self) == b.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    {
      index += 8
    }
    while index < count, a[index] == b[index] { index += 1 }
    if index == a.count, index == b.count { return 0 }
    // The first scalar that differs begins where its first byte is.
    while index > 0, isContinuation(a, index) || isContinuation(b, index) { index -= 1 }
    guard let first = head(of: a, at: index), let second = head(of: b, at: index) else { return nil }
    return first < second ? -1 : 1
  }

  private static func isContinuation(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Bool {
    index < bytes.count && bytes[index] & 0xC0 == 0x80
  }

  /// Returns the scalar at an index, if it and the next one are plain; -1 at the end, `nil` otherwise.
  @inline(__always)
  private static func head(of bytes: UnsafeRawBufferPointer, at index: Int) -> Int? {
    if index == bytes.count { return -1 }
    guard let (scalar, next) = plainScalar(bytes, index) else { return nil }
    guard next == bytes.count || plainScalar(bytes, next) != nil else { return nil }
    return Int(scalar)
  }

  @inline(__always)
  private static func plainScalar(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> (scalar: UInt32, next: Int)? {
    let byte = bytes[index]
    // No ASCII scalar, U+0000 included, combines with the scalar before it.
    if byte < 0x80 { return (UInt32(byte), index + 1) }
    let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
    guard byte >= 0xC2, byte < 0xF5, index + length <= bytes.count else { return nil }
    var scalar = UInt32(byte) & (0x7F >> UInt32(length))
    for offset in 1..<length {
      guard isContinuation(bytes, index + offset) else { return nil }
      scalar = scalar << 6 | UInt32(bytes[index + offset] & 0x3F)
    }
    // An overlong encoding is invalid.
    guard scalar >= (length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000), PlainScalars.contains(scalar) else {
      return nil
    }
    return (scalar, index + length)
  }
}
