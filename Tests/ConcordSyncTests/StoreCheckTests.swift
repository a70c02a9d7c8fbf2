#if Server
  import Dispatch
  import Testing

  @testable import ConcordServer

  @Suite(.timeLimit(.minutes(1)))
  struct StoreCheckTests {
    @Test("A store that says nothing is looked at once, and collects nobody who has asked")
    func silence() async throws {
      let (end, looks) = (DispatchSemaphore(value: 0), Kept(0))
      let check = StoreCheck {
        looks.withLock { $0 += 1 }
        end.wait()
      }
      for _ in 0..<20 { #expect(await check.isReadable(within: .milliseconds(5)) == false) }
      #expect(check.waitingCount == 0)
      async let answer = check.isReadable(within: .seconds(30))
      #expect(try await eventually { check.waitingCount == 1 && looks.withLock { $0 } == 1 })
      end.signal()
      #expect(await answer)
      end.signal()
      #expect(await check.isReadable(within: .seconds(30)))
      #expect(looks.withLock { $0 } == 2 && check.waitingCount == 0)
    }
  }
#endif
