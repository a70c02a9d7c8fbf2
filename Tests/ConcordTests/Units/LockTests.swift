import Dispatch
import Foundation
import Testing

@testable import Concord

@Suite("The lock")
struct LockTests {
  /// What the lock guards.
  private final class Guarded: @unchecked Sendable {
    let lock = Lock()
    var number = 0
    var isOpen = false
  }

  @Test("One at a time: nothing is lost of what many threads count")
  func mutualExclusion() {
    let guarded = Guarded()
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<2_000 { guarded.lock.withLock { guarded.number += 1 } }
    }
    #expect(guarded.number == 16_000)
  }

  @Test("Trying never waits, and succeeds only if nobody has the lock")
  func trying() {
    let lock = Lock()
    #expect(lock.tryLock())
    #expect(!lock.tryLock())
    lock.unlock()
    lock.lock()
    #expect(!lock.tryLock())
    lock.unlock()
    #expect(lock.tryLock())
    lock.unlock()
  }

  @Test("Trying and waiting exclude each other, too")
  func tryingAmongWaiting() {
    let guarded = Guarded()
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for _ in 0..<1_000 {
        if thread % 2 == 0 { while !guarded.lock.tryLock() { sched_yield() } } else { guarded.lock.lock() }
        guarded.number += 1
        guarded.lock.unlock()
      }
    }
    #expect(guarded.number == 8_000)
  }

  @Test("A thread that slept because the lock was held for long gets it")
  func sleepsUntilFree() {
    let guarded = Guarded()
    let group = DispatchGroup()
    guarded.lock.lock()
    for _ in 0..<4 {
      run(in: group) { guarded.lock.withLock { guarded.number += 1 } }
    }
    usleep(5_000)
    #expect(guarded.number == 0)
    guarded.lock.unlock()
    #expect(group.wait(timeout: .now() + 60) == .success)
    #expect(guarded.number == 4)
  }

  @Test("What throws gives the lock back")
  func throwing() {
    let lock = Lock()
    #expect(throws: Refused.self) { try lock.withLock { throw Refused() } }
    #expect(lock.tryLock())
    lock.unlock()
  }

  @Test("All that wait are woken, and each holds the lock again; without any, waking is nothing")
  func wakingAll() {
    let guarded = Guarded()
    let group = DispatchGroup()
    guarded.lock.withLock { guarded.lock.wakeAll() }
    for _ in 0..<8 {
      run(in: group) {
        guarded.lock.lock()
        guarded.number += 1
        while !guarded.isOpen { guarded.lock.wait() }
        guarded.number -= 1
        guarded.lock.unlock()
      }
    }
    // Whoever is counted sleeps, since the lock could be taken.
    while guarded.lock.withLock({ guarded.number }) < 8 { usleep(100) }
    // Waking without a reason is no harm.
    guarded.lock.withLock { guarded.lock.wakeAll() }
    #expect(guarded.lock.withLock { guarded.number } == 8)
    guarded.lock.withLock {
      guarded.isOpen = true
      guarded.lock.wakeAll()
    }
    #expect(group.wait(timeout: .now() + 60) == .success)
    #expect(guarded.number == 0)
  }

  @Test("Two that wait for each other in turn never sleep through it")
  func alternating() {
    let guarded = Guarded()
    let group = DispatchGroup()
    for own in 0..<2 {
      run(in: group) {
        for _ in 0..<200 {
          guarded.lock.lock()
          while guarded.number % 2 != own { guarded.lock.wait() }
          guarded.number += 1
          guarded.lock.wakeAll()
          guarded.lock.unlock()
        }
      }
    }
    #expect(group.wait(timeout: .now() + 60) == .success)
    #expect(guarded.number == 400)
  }

  @Test("A limited wait ends when its time is over, with the lock, and before that when it is woken")
  func waitingForAWhile() {
    let guarded = Guarded()
    let group = DispatchGroup()
    guarded.lock.lock()
    let start = SuspendingClock.now
    while SuspendingClock.now - start < .milliseconds(20) { guarded.lock.wait(atMost: .milliseconds(5)) }
    #expect(!guarded.lock.tryLock())
    guarded.lock.unlock()
    run(in: group) {
      guarded.lock.lock()
      guarded.number += 1
      while !guarded.isOpen { guarded.lock.wait(atMost: .seconds(600)) }
      guarded.lock.unlock()
    }
    while guarded.lock.withLock({ guarded.number }) < 1 { usleep(100) }
    guarded.lock.withLock {
      guarded.isOpen = true
      guarded.lock.wakeAll()
    }
    #expect(group.wait(timeout: .now() + 60) == .success)
  }

  /// On a thread of its own, so that as many as there are can sleep.
  private func run(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    Thread.detachNewThread {
      body()
      group.leave()
    }
  }
}
