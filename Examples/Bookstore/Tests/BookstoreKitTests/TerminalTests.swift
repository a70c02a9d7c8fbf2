import Testing

@testable import BookstoreKit

@Suite("Terminal")
struct TerminalTests {
  @Test("Keys are recognised, also those that come as several bytes")
  func keys() {
    var parser = KeyParser()
    let keys = Array("\tn\u{1B}[Zp \u{1B}[A\u{1B}OBjk\u{1B}[1;5Czs?q".utf8).compactMap { parser.take($0) }
    #expect(keys == [.next, .next, .previous, .pause, .pause, .up, .down, .down, .up, .next, .zoom, .sell, .quit])
  }

  @Test("Percentiles are those of the newest delays")
  func percentiles() {
    var delays = Delays()
    #expect(delays.percentile(0.5) == nil)
    for delay in 1...100 { delays.note(.milliseconds(delay)) }
    #expect(delays.percentile(0.5) == .milliseconds(50))
    #expect(delays.percentile(0.99) == .milliseconds(99))
    #expect(delays.percentile(1) == .milliseconds(100))
    for _ in 0..<5_000 { delays.note(.milliseconds(7)) }
    #expect(delays.percentile(0.99) == .milliseconds(7))
    #expect(Delays.text(.microseconds(1_234)) == "1.23 ms")
  }

  @Test("The rate is that of the last two seconds")
  func rate() {
    var meter = RateMeter()
    let start = ContinuousClock.now
    for tenth in 0...100 {
      meter.note(tenth < 50 ? tenth : 50 + (tenth - 50) * 20, at: start + .milliseconds(tenth * 100))
    }
    #expect(abs(meter.perSecond - 200) < 1)
  }
}
