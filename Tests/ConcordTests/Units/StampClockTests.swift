import Foundation
import Testing

@testable import Concord

@Suite("The clock that gives stamps")
struct StampClockTests {
  @Test("Unstamped writes get the date, strictly increasing, however fast they come")
  func ticks() throws {
    let clock = StampClock(.clock, nil)
    let before = Date().stamp
    let stamps = (0..<1_000).compactMap { _ in clock.effective(nil) }
    let after = Date().stamp
    #expect(stamps.count == 1_000 && zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    let (first, last) = (try #require(stamps.first), try #require(stamps.last))
    // A thousand steps of the least size are far below a microsecond or so each.
    #expect(first >= before && last < after + 1)
  }

  @Test("A stamp that is given is taken as it is, and the clock does not follow it")
  func given() {
    let clock = StampClock(.clock, nil)
    for stamp in [0, -1, 9_000, .infinity, -.infinity, Date.distantFuture.stamp] as [Stamp] {
      #expect(clock.effective(stamp) == stamp)
    }
    #expect(clock.effective(.nan)?.isNaN == true)
    let next = clock.effective(nil)
    #expect((next ?? .infinity) < Date().stamp + 1)
  }

  @Test("Where unstamped writes win, they have no stamp")
  func unstamped() {
    let clock = StampClock(.unstampedWritesWin, nil)
    #expect(clock.effective(nil) == nil && clock.effective(3) == 3)
    #expect(clock.notNewer(nil, than: .infinity) == nil)
    #expect(clock.notNewer(3, than: 3) == 3 && clock.notNewer(3, than: 2) == nil)
  }

  @Test("A stamp is stale unless it is newer: an equal one is, and what is no number always is")
  func stale() {
    for clock in [StampClock(.clock, nil), StampClock(.unstampedWritesWin, nil)] {
      #expect(clock.notNewer(1, than: 1) == 1 && clock.notNewer(0, than: 1) == 0)
      #expect(clock.notNewer((1 as Stamp).nextUp, than: 1) == nil)
      #expect(clock.notNewer(-.infinity, than: -.infinity) == -.infinity)
      #expect(clock.notNewer(0, than: -.infinity) == nil)
      #expect(clock.notNewer(.nan, than: -.infinity)?.isNaN == true)
    }
  }

  @Test("An unstamped write is stale only against a stamp that is ahead of the clock, and loses with the clock's own")
  func unstampedAgainstTheFuture() throws {
    let clock = StampClock(.clock, nil)
    #expect(clock.notNewer(nil, than: -.infinity) == nil && clock.notNewer(nil, than: 0) == nil)
    let stored = try #require(clock.effective(nil))
    #expect(clock.notNewer(nil, than: stored) == nil)
    let future = Date().stamp + 1_000
    let stamp = try #require(clock.notNewer(nil, than: future))
    #expect(stamp > stored && stamp < future)
    // The clock has not jumped ahead.
    #expect((clock.effective(nil) ?? future) < future)
  }

  @Test("The first stamp of an entity is the one given, and none or no number is below all others")
  func firstStamps() {
    #expect(firstStamp(nil) == -.infinity && firstStamp(.nan) == -.infinity && firstStamp(7) == 7)
    #expect(!(9_007_199_254_740_992 as Stamp).isImprecise && (9_007_199_254_740_994 as Stamp).isImprecise)
    #expect((-9_007_199_254_740_994 as Stamp).isImprecise)
    #expect(!Stamp.infinity.isImprecise && !Stamp.nan.isImprecise)
  }
}
