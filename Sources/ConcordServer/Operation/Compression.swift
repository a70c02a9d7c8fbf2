#if Server
  import CCompression

  // Relies on: zlib reads the given bytes during the call only, and writes no more than the room that it is told. The bound of zlib is enough for
  // the whole in one call.

  /// Compression of answers as `gzip` does it (RFC 1952).
  enum Compression {
    /// Whether a client takes answers that are compressed, by its header field `Accept-Encoding`.
    static func isAccepted(by field: String?) -> Bool {
      let items = (field ?? "").split(separator: ",").map { item in
        item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      }
      // `*` stands for what is not named (RFC 9110, 12.5.3).
      guard let item = items.first(where: { $0.first == "gzip" }) ?? items.first(where: { $0.first == "*" }) else {
        return false
      }
      return !item.dropFirst().contains { $0.hasPrefix("q=0") && !$0.contains { "123456789".contains($0) } }
    }

    /// Compresses bytes.
    ///
    /// - Returns: `nil` if there is no memory for it.
    /// - Complexity: about 10 ns for each byte.
    static func gzip(_ bytes: [UInt8]) -> [UInt8]? {
      var stream = z_stream()
      // 16 stands for the header of gzip.
      guard
        deflateInit2_(
          &stream, 3, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
          Int32(MemoryLayout<z_stream>.size)) == Z_OK
      else { return nil }
      defer { deflateEnd(&stream) }
      guard bytes.count < Int(UInt32.max) / 2 else { return nil }
      let bound = Int(deflateBound(&stream, uLong(bytes.count)))
      var input = bytes
      let output = [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
        input.withUnsafeMutableBufferPointer { input in
          stream.next_in = input.baseAddress
          stream.avail_in = uInt(input.count)
          stream.next_out = buffer.baseAddress
          stream.avail_out = uInt(bound)
          count = deflate(&stream, Z_FINISH) == Z_STREAM_END ? bound - Int(stream.avail_out) : 0
        }
      }
      return output.isEmpty ? nil : output
    }
  }
#endif
