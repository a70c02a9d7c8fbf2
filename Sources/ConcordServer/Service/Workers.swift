#if Server
  import Concord
  import Dispatch

  /// The threads that wait for the store, so that those of Swift's concurrency do not. Users take turns, however much each of them wants,
  /// and of one user pages and actions: devices send many actions at once, each of which ends with a page.
  final class Workers: Sendable {
    private let count: Int
    private let userCount: Int
    private let queue = DispatchQueue(label: "concord.server", attributes: .concurrent)
    private let state = Locked(State())
    private let metrics: SyncMetrics

    enum Work: Hashable { case pages, actions }

    private struct Turn: Hashable {
      let user: String
      let work: Work
    }

    private struct Job: Sendable {
      let run: @Sendable () -> Void
      let drop: @Sendable () -> Void
    }

    private struct State {
      var running = 0
      /// By user, the number of those that run.
      var runningOfUsers: [String: Int] = [:]
      var lastNumber = 0
      /// The jobs that wait for a thread, by their numbers.
      var waiting: [Int: Job] = [:]
      /// The numbers of the jobs that wait, and of some that were dropped.
      var numbers: [Turn: Line<Int>] = [:]
      /// Whose they are, in the order of their turns.
      var turns = Line<Turn>()

      mutating func add(_ job: Job, _ number: Int, _ turn: Turn) {
        waiting[number] = job
        if numbers[turn] == nil { turns.append(turn) }
        numbers[turn, default: Line()].append(number)
      }

      /// - Parameter userCount: the number of jobs of one user that run at most.
      mutating func next(_ userCount: Int) -> (job: Job, user: String)? {
        // Few are passed over: those of users who have all the threads that they may have.
        var passed: [Turn] = []
        defer { for turn in passed { turns.append(turn) } }
        while let turn = turns.popFirst() {
          if runningOfUsers[turn.user, default: 0] >= userCount {
            passed.append(turn)
            continue
          }
          while let number = numbers[turn]?.popFirst() {
            guard let job = waiting.removeValue(forKey: number) else { continue }
            // Its next one comes after one of each other.
            turns.append(turn)
            return (job, turn.user)
          }
          numbers[turn] = nil
        }
        return nil
      }

      mutating func begin(_ user: String) {
        running += 1
        runningOfUsers[user, default: 0] += 1
      }

      mutating func end(_ user: String) {
        running -= 1
        runningOfUsers[user, default: 1] -= 1
        if runningOfUsers[user] == 0 { runningOfUsers[user] = nil }
      }
    }

    /// - Parameters:
    ///   - count: the number of threads.
    ///   - userCount: the number of those that one user has at most.
    init(count: Int, ofUser userCount: Int, _ metrics: SyncMetrics) {
      (self.count, self.userCount, self.metrics) = (max(1, count), max(1, userCount), metrics)
    }

    /// The number of closures that wait for a thread.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Runs a closure on one of the threads.
    ///
    /// - Parameters:
    ///   - user: the user, who takes turns with all other users.
    ///   - work: what for.
    /// - Throws: what the closure throws; a `CancellationError` if the task is cancelled before it has begun.
    func run<R: Sendable>(
      for user: String, _ work: Work, _ body: @escaping @Sendable () throws -> R
    ) async throws -> R {
      metrics.request(1)
      defer { metrics.request(-1) }
      let number = state.withLock { state in
        state.lastNumber += 1
        return state.lastNumber
      }
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
          begin(
            Job(
              run: { continuation.resume(with: Result { try body() }) },
              drop: { continuation.resume(throwing: CancellationError()) }), number, Turn(user: user, work: work))
        }
      } onCancel: {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.drop()
      }
    }

    private func begin(_ job: Job, _ number: Int, _ turn: Turn) {
      let isNow = state.withLock { state in
        if state.running < count, state.runningOfUsers[turn.user, default: 0] < userCount {
          state.begin(turn.user)
          return true
        }
        state.add(job, number, turn)
        return false
      }
      guard isNow else { return }
      queue.async { [self] in
        var (job, user) = (job, turn.user)
        while true {
          job.run()
          let next = state.withLock { state in
            state.end(user)
            let next = state.next(userCount)
            if let next { state.begin(next.user) }
            return next
          }
          guard let next else { return }
          (job, user) = next
        }
      }
    }
  }

  /// A line of what waits, first come, first served.
  private struct Line<Element> {
    private var elements: [Element] = []
    private var first = 0

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
      guard first < elements.count else { return nil }
      defer {
        first += 1
        // Seldom, since all others are moved.
        if first > 32, first * 2 > elements.count {
          elements.removeFirst(first)
          first = 0
        }
      }
      return elements[first]
    }
  }
#endif
