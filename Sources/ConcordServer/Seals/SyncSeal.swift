#if Server
  import ConcordSync
  import Foundation

  /// Seals what devices keep for the server: they can give it back, and learn nothing from it.
  ///
  /// A position would tell how much all users write. Each sealed one is encrypted with a nonce of its own (the HMAC as the pseudo-random function of
  /// counter mode), and then authenticated, so that two of one state differ. All servers of a store have the key from its notes.
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

    func closed(_ position: StorePosition) -> String {
      guard isHiding else { return position.rawValue }
      var generator = SystemRandomNumberGenerator()
      let nonce = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
      // Lengths tell, too.
      var text = Array(position.rawValue.utf8)
      text += [UInt8](repeating: 0, count: 128 - text.count % 128)
      let sealed = nonce + encrypted(text, nonce)
      return Data(sealed + tag(sealed)).base64EncodedString()
    }

    /// - Returns: `nil` if the text is none of this key's.
    func opened(_ text: String) -> StorePosition? {
      guard isHiding else { return StorePosition(rawValue: text) }
      guard let data = Data(base64Encoded: text), data.count > 32 else { return nil }
      let bytes = Array(data)
      let sealed = Array(bytes.dropLast(16))
      guard tag(sealed).elementsEqual(bytes.suffix(16)) else { return nil }
      let opened = encrypted(Array(sealed.dropFirst(16)), Array(sealed.prefix(16)))
      return StorePosition(rawValue: String(decoding: opened.prefix { $0 != 0 }, as: UTF8.self))
    }

    private func tag(_ sealed: [UInt8]) -> ArraySlice<UInt8> {
      SHA256.authenticate(Array("tag ".utf8) + sealed, key: key).prefix(16)
    }

    /// Encryption and decryption are the same.
    private func encrypted(_ bytes: [UInt8], _ nonce: [UInt8]) -> [UInt8] {
      var stream: [UInt8] = []
      var number: UInt8 = 0
      while stream.count < bytes.count {
        stream += SHA256.authenticate(Array("stream ".utf8) + nonce + [number], key: key)
        number &+= 1
      }
      return zip(bytes, stream).map { $0 ^ $1 }
    }
  }
#endif
