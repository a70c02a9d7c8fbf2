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
      #expect(try Event(json: event.json.utf8) == event)
      #expect(again.next() == event)
      if other.next() != event { differences += 1 }
    }
    #expect(differences > 400)
  }

  @Test("Texts with quotes, line ends and control characters survive")
  func awkwardText() throws {
    let event = Event(.title(book: "b\\\"\n", title: "\u{1}tab\t“é”😀"), at: 1.5)
    #expect(try Event(json: event.json.utf8) == event)
    #expect(!event.json.contains("\n"))
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
      ("nonsense", "a JSON value expected, found 'o'"),
      ("[]", "an event must be an object, found a list"),
      ("{}", "an event has no \"type\""),
      (#"{"type":"sale"}"#, "unknown type \"sale\", known are price, stock, review, title, name, remove"),
      (#"{"type":"price","book":"b"}"#, "a price event has no \"cents\""),
      (
        #"{"type":"price","book":"b","cents":-1}"#,
        "\"cents\" of a price event must be between 0 and 100000000, found -1"
      ),
      (
        #"{"type":"stock","book":"b","count":"1"}"#,
        "\"count\" of a stock event must be a whole number, found a string"
      ),
      (
        #"{"type":"review","book":"b","id":"r","stars":6}"#,
        "\"stars\" of a review event must be between 1 and 5, found 6"
      ),
      (#"{"type":"title","book":"b","title":" "}"#, "\"title\" of a title event is empty"),
      (#"{"type":"name","author":1,"name":"n"}"#, "\"author\" of a name event must be a string, found a number"),
      (#"{"type":"remove","book":"b","at":"now"}"#, "\"at\" of a remove event must be a number, found a string"),
    ])
  func malformed(json: String, reason: String) {
    #expect(throws: JSONProblem(line: 1, reason: reason)) { try Event(json: json.utf8) }
  }
}
