#if Server
  import ConcordSync
  import Foundation

  /// Seals what devices keep for the server: they can give it back, and learn nothing from it.
  ///
  /// A position would tell how much all users write. Each sealed one is encrypted with a nonce of its own (the HMAC as the pseudo-random function of
  /// counter mode), and then authenticated, so that two of one state differ. It contains the conditions of the page, so that nobody can claim the state of
  /// another one at that position. All servers of a store have the key from its notes.
  struct SyncSeal: Sendable {
    private let key: [UInt8]
    /// Whether positions are sealed at all.
    private let isHiding: Bool

    init(key: [UInt8], isHiding: Bool) { (self.key, self.isHiding) = (key, isHiding) }

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
    func digest(_ text: String) -> String {
      Data(SHA256.authenticate(Array("digest ".utf8) + Array(text.utf8), key: key).prefix(12)).base64EncodedString()
    }

    /// A position that a device has given back, with the conditions whose states the device has there.
    struct Opened {
      let position: StorePosition
      /// The beginnings of the conditions; `nil` if positions are not sealed.
      fileprivate let conditions: Set<[UInt8]>?

      func has(_ condition: String) -> Bool { conditions?.contains(SyncSeal.beginning(of: condition)) ?? true }
    }

    /// The part of a condition that a position contains: nobody can make another one that begins alike.
    private static func beginning(of condition: String) -> [UInt8] {
      let bytes = condition.utf8.prefix(beginningLength)
      return bytes + [UInt8](repeating: 0, count: beginningLength - bytes.count)
    }

    private static let beginningLength = 8

    /// - Parameter conditions: the conditions of the page that ends at the position.
    func closed(_ position: StorePosition, having conditions: [String] = []) -> String {
      guard isHiding else { return position.rawValue }
      var generator = SystemRandomNumberGenerator()
      let nonce = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
      // Lengths tell, too.
      var text = Array(position.rawValue.utf8)
      text += [UInt8](repeating: 0, count: Self.paddedLength(text.count) - text.count)
      for condition in conditions { text += Self.beginning(of: condition) }
      let sealed = nonce + encrypted(text, nonce)
      return Data(sealed + tag(sealed)).base64EncodedString()
    }

    /// - Returns: `nil` if the text is none of this key's.
    func opened(_ text: String) -> Opened? {
      guard isHiding else { return Opened(position: StorePosition(rawValue: text), conditions: nil) }
      guard let data = Data(base64Encoded: text), data.count > 32 else { return nil }
      let bytes = Array(data)
      let sealed = Array(bytes.dropLast(16))
      guard tag(sealed).elementsEqual(bytes.suffix(16)) else { return nil }
      let opened = encrypted(Array(sealed.dropFirst(16)), Array(sealed.prefix(16)))
      let position = opened.prefix { $0 != 0 }
      let conditions = opened.dropFirst(Self.paddedLength(position.count))
      return Opened(
        position: StorePosition(rawValue: String(decoding: position, as: UTF8.self)),
        conditions: Set(
          stride(from: conditions.startIndex, to: conditions.endIndex, by: Self.beginningLength).map {
            Array(conditions[$0..<min($0 + Self.beginningLength, conditions.endIndex)])
          }))
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
