#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// Invariant: values with the same bits are the same value, whatever their type, since Swift values may be moved and copied
// bitwise. Values with different bits may still be equal. Reads exactly the bytes of the values, which live for the call.

/// Whether two values have the same bits.
@inlinable func haveSameBits<T>(_ a: T, _ b: T) -> Bool {
  withUnsafeBytes(of: a) { a in withUnsafeBytes(of: b) { bytesAreEqual(a, $0) } }
}

@usableFromInline func bytesAreEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
  guard a.count == b.count, let left = a.baseAddress, let right = b.baseAddress else { return a.count == b.count }
  return memcmp(left, right, a.count) == 0
}
