#if Server
  import Concord
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordServer
  @testable import ConcordSync

  @Suite("The wire", .timeLimit(.minutes(TestOptions.isLong ? 15 : 3)))
  struct WireTests {
    @Test("The hash function and the code of messages give the values of the standards")
    func hashes() {
      func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      }
      #expect(
        text(SHA256.hash(Array("abc".utf8))) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
      #expect(text(SHA256.hash([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
      #expect(
        text(SHA256.hash([UInt8](repeating: 0x61, count: 1_000_000)))
          == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
      // RFC 4231, cases 2 and 6.
      #expect(
        text(SHA256.authenticate(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)))
          == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
      #expect(
        text(
          SHA256.authenticate(
            Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            key: [UInt8](repeating: 0xaa, count: 131)))
          == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test("Bytes of any kind are read as messages and pages, or refused with an error of the wire")
    func bytes() throws {
      let seed = TestOptions.seed(.random(in: 1...1_000_000))
      print("bytes: seed \(seed)")
      let count = TestOptions.isLong ? 1_000_000 : 20_000
      let model = try shopModel()
      let seal = SyncSeal(key: [1, 2, 3], isHiding: true)
      let samples = [
        #"{"version":1,"device":"d","position":null,"user":"1","actions":0,"awaited":["k"],"wait":1e3,"subscriptions":[{"name":"c","parameters":{"a":{"date":7},"b":{"number":-0.5},"c":true,"d":3,"e":"\ud83d\ude00"},"known":"x"}]}"#,
        #"{"version":1,"device":"d","key":"k","name":"append","action":{"cart":1,"text":"x"},"refusals":0,"since":0}"#,
        """
        {"version":1,"from":null,"position":"1.2","user":"1","actions":1,"keys":["k"],"schema":{"Label":{"columns":[["id","Int"],["owner","Int"],["name","String"]],"lists":[]}},"subscriptions":[{"entity":"Label","whole":true,"condition":"c"}]}
        {"enter":[0,[1,2]]}
        {"gone":["Label",7]}
        {"row":["Label",1,1.5,[1,1,"n"],[]]}
        {"end":1}
        """,
        seal.closed(StorePosition(rawValue: "12.34"), having: [.init(condition: "c", result: "r")]),
      ].map { Array($0.utf8) }
      #expect(try Page(parsing: samples[2], model).rows.count == 1)
      var numbers = SplitMix(seed)
      for number in 0..<count {
        var bytes = samples[number % samples.count]
        if number % 16 == 0 {
          bytes = (0..<Int.random(in: 0...200, using: &numbers)).map { _ in .random(in: 0...255, using: &numbers) }
        }
        for _ in 0..<Int.random(in: 1...4, using: &numbers) where !bytes.isEmpty {
          let (place, other) = (
            Int.random(in: 0..<bytes.count, using: &numbers), Int.random(in: 0..<bytes.count, using: &numbers)
          )
          switch Int.random(in: 0..<7, using: &numbers) {
          case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
          case 1: bytes.removeSubrange(place...)
          case 2: bytes.insert(contentsOf: Array(repeating: UInt8(ascii: "["), count: 100), at: place)
          case 3: bytes.insert(contentsOf: Array("-1e999".utf8), at: place)
          case 4: bytes.insert(contentsOf: bytes[min(place, other)..<max(place, other)], at: place)
          case 5:
            bytes[place] =
              [0x7B, 0x7D, 0x5B, 0x5D, 0x22, 0x2C, 0x3A, 0x5C, 0x30, 0x0A].randomElement(using: &numbers) ?? 0
          default: bytes.removeSubrange(min(place, other)..<max(place, other))
          }
        }
        if let wire = try? WireValue(parsing: bytes) {
          // What was read is written, and read as the same.
          #expect(try WireValue(parsing: wire.bytes) == wire, "seed \(seed)")
          if let request = try? PageRequest(wire) {
            #expect(try PageRequest(request.wire).wire == request.wire, "seed \(seed)")
          }
          if let message = try? ActionMessage(wire) { #expect(try ActionMessage(message.wire).wire == message.wire) }
          if let id = (try? wire.text()).flatMap(SubscriptionID.init(text:)) {
            #expect(SubscriptionID(text: id.text) == id)
          }
        }
        _ = try? Page(parsing: bytes, model)
        let text = String(decoding: bytes, as: UTF8.self)
        if let opened = seal.opened(text) {
          #expect(
            opened.position.rawValue == "12.34" && opened.has("c") && opened.result(of: "c")?.first == "r",
            "seed \(seed): a forged position")
        }
        if let key = EntityKey(noteName: text, in: model) {
          #expect(EntityKey(noteName: key.noteName, in: model) == key)
        }
      }
    }

    @Test("A position contains the conditions of its page, and no others, and is as long as others with as many")
    func conditions() throws {
      let seal = SyncSeal(key: [1, 2, 3], isHiding: true)
      for count in [0, 1, 3, 2000] {
        let conditions = (0..<count).map { seal.digest("\($0)") }
        let texts = [("1", nil), ("12.345678901", seal.digest("rows"))].map { position, result in
          seal.closed(
            StorePosition(rawValue: position), having: conditions.map { .init(condition: $0, result: result) })
        }
        #expect(texts[0].utf8.count == texts[1].utf8.count)
        let opened = try #require(seal.opened(texts[1]))
        #expect(opened.position.rawValue == "12.345678901" && conditions.allSatisfy(opened.has))
        #expect(!opened.has(seal.digest("other")) && !opened.has(""))
        // One that begins alike is another one.
        #expect(conditions.allSatisfy { !opened.has($0.prefix(8) + "AAAAAAAA") })
        let result = seal.digest("rows")
        #expect(conditions.allSatisfy { opened.result(of: $0) == result })
        let without = try #require(seal.opened(texts[0]))
        #expect(conditions.allSatisfy { without.has($0) && without.result(of: $0) == nil })
        #expect(opened.result(of: seal.digest("other")) == nil)
        #expect(seal.opened(String(texts[1].dropFirst(4))) == nil)
      }
      let open = SyncSeal(key: [1, 2, 3], isHiding: false)
      #expect(open.opened(open.closed(StorePosition(rawValue: "1"), having: []))?.has("c") == true)
    }

    @Test("What a device notes of subscriptions and actions is read as it was, whatever the texts in it are")
    func notes() {
      for text in ["", "1", "a b  c ", "\u{301}x", " \u{301}", "e\u{301} \u{200D}", "refused", "\n"] {
        let states: [SubscriptionState] = [
          .refused(text), .known(condition: text), .new(mark: "m", wasRefused: true),
          .new(mark: "m", wasRefused: false),
        ]
        for state in states { #expect(SubscriptionState(note: state.note) == state) }
        let sending = SendingState(refusals: 2, since: 5, sinceRefused: 7, user: text)
        let read = SendingState(note: sending.note)
        #expect(read.user == text && read.note == sending.note && read.sinceRefused == 7 && read.since == 5)
      }
      // As earlier releases have noted them.
      #expect(SubscriptionState(note: "new") == .new(mark: "", wasRefused: false))
      for note in ["3 5 7", "3 5", "3"] {
        #expect(SendingState(note: note).user == nil && SendingState(note: note).refusals == 3)
      }
      #expect(
        SendingState(note: "3").since == nil && SendingState(note: "3 5").since == 5
          && SendingState(note: nil).refusals == 0)
    }
  }
#endif
