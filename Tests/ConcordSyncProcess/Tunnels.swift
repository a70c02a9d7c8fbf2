#if Server
  import ConcordServer
  import Foundation

  /// A network that is away now and then, for 0.2 to 2 seconds.
  final class Tunnels: Transport {
    private let base: any Transport
    private let journal: Journal
    private let seed: UInt64
    private let state = Kept(State())

    private struct State {
      var isAway = false
      /// The number of times that it was away.
      var times = 0
      /// The number of requests and answers that were lost the last time.
      var lost = 0
    }

    /// - Parameter journal: a file that gets, after each time that the network was away, how many requests and answers were lost.
    init(_ base: any Transport, _ journal: Journal, _ seed: UInt64) {
      (self.base, self.journal, self.seed) = (base, journal, seed)
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      let times = try pass(nil)
      let response = try await base.send(request)
      _ = try pass(times)
      return response
    }

    /// - Parameter times: the number of times when the request was sent; `nil` if it is not sent yet.
    private func pass(_ times: Int?) throws -> Int {
      let (isAway, now) = state.withLock { state in
        let isAway = state.isAway || times.map { $0 != state.times } ?? false
        if isAway { state.lost += 1 }
        return (isAway, state.times)
      }
      if isAway { throw TransportError.unreachable(reason: "a tunnel") }
      return now
    }

    /// Lets the network be away now and then, until the task is cancelled.
    func drive() async {
      var numbers = SplitMix(seed &+ 1)
      while (try? await Task.sleep(for: .milliseconds(Int.random(in: 100...1500, using: &numbers)))) != nil {
        state.withLock { $0 = State(isAway: true, times: $0.times + 1) }
        try? await Task.sleep(for: .milliseconds(Int.random(in: 200...2000, using: &numbers)))
        let lost = state.withLock { state in
          state.isAway = false
          return state.lost
        }
        journal.write([lost])
      }
    }
  }
#endif
