import Testing

@testable import BookstoreKit

@Suite("Events")
struct EventTests {
  @Test("Invented events read back as they were written, the same ones for the same seed")
  func roundTrip() throws {
    let shop = try Fixture()
    var generator = shop.generator(seed: 5)
    var again = shop.generator(seed: 5)
    var other = shop.generator(seed: 6)
    var differences = 0
    for _ in 0..<500 {
      let event = generator.next()
      #expect(try Event(json: event.json().utf8) == event)
      #expect(again.next() == event)
      if other.next() != event { differences += 1 }
    }
    #expect(differences > 400)
  }

  @Test("Texts with quotes, line ends and control characters survive")
  func awkwardText() throws {
    let event = Event(.title(book: "b\\\"\n", title: "\u{1}tab\t“é”😀"), at: 1.5)
    #expect(try Event(json: event.json().utf8) == event)
    #expect(try !event.json().contains("\n"))
  }

  @Test("Invented events never speak of what is not there, and some come late")
  func plausible() throws {
    let shop = try Fixture()
    var generator = shop.generator(seed: 9)
    var ledger = shop.ledger
    for number in 0..<5_000 {
      let event = generator.next()
      ledger.receive(event, stamp: event.at ?? Double(10 + number))
    }
    #expect(ledger.refused == 0)
    #expect(ledger.stale > 20)
    #expect(ledger.taken > 4_000)
    #expect(ledger.list.count < shop.catalogue.books.count)
  }

  @Test(
    "A malformed event says what is wrong with it",
    arguments: [
      ("{}", "\"type\" is missing"),
      (#"{"type":7}"#, "\"type\" must be a string"),
      (#"{"type":null}"#, "\"type\" must be a string"),
      (
        #"{"type":"sale"}"#,
        "\"type\": unknown type \"sale\", known are price, stock, review, title, name, remove"
      ),
      (#"{"type":"price","book":"b"}"#, "\"cents\" is missing"),
      (#"{"type":"price","book":"b","cents":-1}"#, "\"cents\": must be between 0 and 100000000, found -1"),
      (#"{"type":"stock","book":"b","count":"1"}"#, "\"count\" must be a whole number"),
      (#"{"type":"review","book":"b","id":"r","stars":6}"#, "\"stars\": must be between 1 and 5, found 6"),
      (#"{"type":"title","book":"b","title":" "}"#, "\"title\": must not be empty"),
      (#"{"type":"name","author":1,"name":"n"}"#, "\"author\" must be a string"),
      (#"{"type":"remove","book":"b","at":"now"}"#, "\"at\" must be a number"),
    ])
  func malformed(json: String, reason: String) {
    #expect(throws: EventProblem.malformed(reason)) { try Event(json: json.utf8) }
  }

  @Test(
    "What is no JSON object is refused, whatever it is",
    arguments: [
      "", " ", "nonsense", "[]", "7", "{", #"{"type""#, #"{"type":"remove","book":"b"} x"#, "{\"type\":\"\\ud800\"}",
      String(repeating: "[", count: 1_000_000),
    ])
  func refused(json: String) {
    #expect(throws: EventProblem.self) { try Event(json: json.utf8) }
  }

  @Test("Bytes that are not UTF-8 are refused")
  func encoding() {
    let bytes = Array(#"{"type":"remove","book":""#.utf8) + [0xC3, 0x28] + Array("\"}".utf8)
    #expect(throws: EventProblem.self) { try Event(json: bytes) }
  }
}
