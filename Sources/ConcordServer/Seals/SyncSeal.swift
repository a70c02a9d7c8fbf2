#if Server
  import ConcordSync
  import Foundation

  /// Seals what devices keep for the server: they can give it back, and learn nothing from it.
  ///
  /// A position would tell how much all users write. Each sealed one is encrypted with a nonce of its own (the HMAC as the pseudo-random function of
  /// counter mode), and then authenticated, so that two of one state differ. It contains the conditions of the page, so that nobody can claim the state of
  /// another one at that position, and digests of what the device has there, which can be compared with nothing else. All servers of a store have the
  /// key from its notes.
  struct SyncSeal: Sendable {
    private let key: [UInt8]
    /// Whether positions are sealed at all.
    let isHiding: Bool
    /// A hash that only the servers of the store can compute; nothing is added to it yet.
    let hash: SipHash

    init(key: [UInt8], isHiding: Bool) {
      (self.key, self.isHiding) = (key, isHiding)
      hash = SipHash(key: SHA256.authenticate(Array("hash ".utf8), key: key))
    }

    private static let name = NoteName("sync.server", "key")

    /// Reads the key of a store, or makes it.
    static func key(of store: any RowStore) throws -> [UInt8] {
      func bytes(_ note: String?) -> [UInt8]? { note.flatMap { Data(base64Encoded: $0) }.map { Array($0) } }
      if let key = bytes(try store.read({ try $0.note(name) })) { return key }
      return try store.write(origin: nil) { writing in
        // Another server may have made it meanwhile.
        if let key = bytes(try writing.note(name)) { return key }
        var generator = SystemRandomNumberGenerator()
        let key = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try writing.setNote(Data(key).base64EncodedString(), for: name)
        return key
      }
    }

    /// Returns a text that tells nothing but equality of what it was made from.
    func digest(_ text: String) -> String { digest(Array(text.utf8)) }

    /// Returns a text that tells nothing but equality of what it was made from.
    func digest(_ bytes: [UInt8]) -> String {
      Data(SHA256.authenticate(Array("digest ".utf8) + bytes, key: key).prefix(12)).base64EncodedString()
    }

    /// The state of a subscription that a device has at a position.
    struct State: Hashable {
      let condition: String
      /// The digest of what it has: of all, or where the predicate depends on the row's own columns, a ``KeySum``. `nil` if it is not known.
      var result: String?
    }

    /// A position that a device has given back, with the states that the device has there.
    struct Opened {
      let position: StorePosition
      /// The results, by the conditions; `nil` if positions are not sealed.
      fileprivate let states: [[UInt8]: [UInt8]]?

      /// Whether a page has named a condition for the position. One that is not sealed says nothing of it.
      func has(_ condition: String) -> Bool { states.map { $0[SyncSeal.field(condition)] != nil } ?? true }

      /// The digest of what the device has; `nil` if the position has none.
      func result(of condition: String) -> String? {
        guard let field = states?[SyncSeal.field(condition)], field != SyncSeal.field("") else { return nil }
        return String(decoding: field, as: UTF8.self)
      }
    }

    /// A digest as a position contains it: of one length, and whole, so that nobody can collect two that are alike.
    private static func field(_ digest: String) -> [UInt8] {
      let bytes = digest.utf8.prefix(fieldLength)
      return bytes + [UInt8](repeating: 0, count: fieldLength - bytes.count)
    }

    private static let fieldLength = 16

    /// - Parameter states: the states of the page that ends at the position.
    func closed(_ position: StorePosition, having states: [State] = []) -> String {
      guard isHiding else { return position.rawValue }
      var generator = SystemRandomNumberGenerator()
      let nonce = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
      // Lengths tell, too.
      var text = Array(position.rawValue.utf8)
      text += [UInt8](repeating: 0, count: Self.paddedLength(text.count) - text.count)
      let results = Dictionary(grouping: states, by: \.condition).mapValues { Set($0.map(\.result)) }
      for state in states {
        // Subscriptions with one condition may have been read at different times. Where they differ, the next page brings all of both.
        let isOne = results[state.condition]?.count == 1
        text += Self.field(state.condition) + Self.field(isOne ? state.result ?? "" : "")
      }
      let sealed = nonce + encrypted(text, nonce)
      return Data(sealed + tag(sealed)).base64EncodedString()
    }

    /// - Returns: `nil` if the text is none of this key's.
    func opened(_ text: String) -> Opened? {
      guard isHiding else { return Opened(position: StorePosition(rawValue: text), states: nil) }
      guard let data = Data(base64Encoded: text), data.count > 32 else { return nil }
      let bytes = Array(data)
      let sealed = Array(bytes.dropLast(16))
      guard tag(sealed).elementsEqual(bytes.suffix(16)) else { return nil }
      let opened = encrypted(Array(sealed.dropFirst(16)), Array(sealed.prefix(16)))
      let position = opened.prefix { $0 != 0 }
      // What a server of an earlier release has sealed there is half as long, and no condition.
      let fields = Array(opened.dropFirst(Self.paddedLength(position.count)))
      let starts = stride(from: 0, through: fields.count - 2 * Self.fieldLength, by: 2 * Self.fieldLength)
      return Opened(
        position: StorePosition(rawValue: String(decoding: position, as: UTF8.self)),
        states: Dictionary(
          starts.map { start in
            let middle = start + Self.fieldLength
            return (Array(fields[start..<middle]), Array(fields[middle..<middle + Self.fieldLength]))
          }
        ) { $1 })
    }

    private static func paddedLength(_ length: Int) -> Int { (length / 128 + 1) * 128 }

    private func tag(_ sealed: [UInt8]) -> ArraySlice<UInt8> {
      SHA256.authenticate(Array("tag ".utf8) + sealed, key: key).prefix(16)
    }

    /// Encryption and decryption are the same.
    private func encrypted(_ bytes: [UInt8], _ nonce: [UInt8]) -> [UInt8] {
      var stream: [UInt8] = []
      var number: UInt64 = 0
      while stream.count < bytes.count {
        let counter = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        stream += SHA256.authenticate(Array("stream ".utf8) + nonce + counter, key: key)
        number += 1
      }
      return zip(bytes, stream).map { $0 ^ $1 }
    }
  }
#endif
