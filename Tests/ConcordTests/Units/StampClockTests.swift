import Foundation
import Testing

@testable import Concord

@Suite("The clock that gives stamps")
struct StampClockTests {
  @Test("Unstamped writes get the date, strictly increasing, however fast they come")
  func ticks() throws {
    let clock = StampClock(isClock: true)
    let before = Date().stamp
    let stamps = (0..<1_000).compactMap { _ in clock.effective(nil).own }
    let after = Date().stamp
    #expect(stamps.count == 1_000 && zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    let (first, last) = (try #require(stamps.first), try #require(stamps.last))
    // A thousand steps of the least size are far below a microsecond or so each.
    #expect(first >= before && last < after + 1)
  }

  @Test("A stamp that is given is taken as it is, and the clock does not follow it")
  func given() throws {
    let clock = StampClock(isClock: true)
    for stamp in [0, -1, 9_000, .infinity, -.infinity, Date.distantFuture.stamp] as [Stamp] {
      #expect(clock.effective(stamp) == .given(stamp))
    }
    if case .given(let stamp) = clock.effective(.nan) { #expect(stamp.isNaN) } else { Issue.record("not given") }
    #expect(try #require(clock.effective(nil).own) < Date().stamp + 1)
  }

  @Test("Where unstamped writes win, they have no stamp")
  func unstamped() {
    let clock = StampClock(isClock: false)
    #expect(clock.effective(nil) == .none && clock.effective(3) == .given(3))
  }

  @Test("A stamp is stale unless it is newer: an equal one is, and what is no number always is")
  func stale() {
    for clock in [StampClock(isClock: true), StampClock(isClock: false)] {
      #expect(clock.isStale(1, than: 1) && clock.isStale(0, than: 1))
      #expect(!clock.isStale((1 as Stamp).nextUp, than: 1))
      #expect(clock.isStale(-.infinity, than: -.infinity))
      #expect(!clock.isStale(0, than: -.infinity))
      #expect(clock.isStale(.nan, than: -.infinity))
    }
  }

  @Test("A stamp of the clock is raised above a stored one by the least step, and only if that is not older")
  func raised() {
    #expect((5 as Stamp).raised(above: 4) == 5 && (5 as Stamp).raised(above: -.infinity) == 5)
    #expect((5 as Stamp).raised(above: 5) == (5 as Stamp).nextUp)
    #expect((5 as Stamp).raised(above: 1e12) == (1e12 as Stamp).nextUp)
    #expect((5 as Stamp).raised(above: .infinity) == .infinity)
  }

  @Test("A clock whose date goes back and forth tells increasing stamps, and the date when that is later")
  func jumps() {
    let dates = Log<Double>()
    var clock = IncreasingClock(date: { Date(timeIntervalSinceReferenceDate: dates.values.last ?? 0) })
    var last = -Stamp.infinity
    for date in [10, 5, 5, 20, 20, -100, 1e12, 30] as [Double] {
      dates.append(date)
      let next = clock.next()
      #expect(next > last && next == max(date, last.nextUp))
      last = next
    }
  }

  @Test("The first stamp of an entity is the one given, and none or no number is below all others")
  func firstStamps() {
    #expect(WriteStamp.none.first == -.infinity && WriteStamp.given(.nan).first == -.infinity)
    #expect(WriteStamp.given(7).first == 7 && WriteStamp.clock(7).first == 7)
    #expect(!(9_007_199_254_740_992 as Stamp).isImprecise && (9_007_199_254_740_994 as Stamp).isImprecise)
    #expect((-9_007_199_254_740_994 as Stamp).isImprecise)
    #expect(!Stamp.infinity.isImprecise && !Stamp.nan.isImprecise)
  }
}

extension WriteStamp {
  /// The stamp, if the clock gave it.
  fileprivate var own: Stamp? { if case .clock(let stamp) = self { stamp } else { nil } }
}
