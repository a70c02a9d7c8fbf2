#if Server
  import Concord
  import Dispatch

  /// Calls closures after some time, by one timer for all, and keeps nothing of those that are cancelled.
  ///
  /// A `Task.sleep` that is cancelled stays in memory until its time has come, so that requests would fill it that are answered long before.
  final class Deadlines: Sendable {
    static let shared = Deadlines()

    /// A closure that is called later, unless the object is released before.
    final class Deadline: Sendable {
      private let number: Int
      private let deadlines: Deadlines

      fileprivate init(_ number: Int, _ deadlines: Deadlines) { (self.number, self.deadlines) = (number, deadlines) }

      deinit { deadlines.cancel(number) }
    }

    fileprivate struct Place {
      let time: ContinuousClock.Instant
      let number: Int
    }

    fileprivate struct State {
      var lastNumber = 0
      var bodies: [Int: @Sendable () -> Void] = [:]
      /// A heap, the earliest one first. It has also those that were cancelled, as long as they are not more than the others.
      var places: [Place] = []
      /// The moment at which the timer fires next; `nil` if it does not.
      var next: ContinuousClock.Instant?
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "concord.server.deadlines")

    /// The number of closures that are to be called, and of places that are kept for them.
    var counts: (bodies: Int, places: Int) { state.withLock { ($0.bodies.count, $0.places.count) } }

    /// Calls a closure after some time, on a queue on which nothing may take long.
    func call(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> Deadline {
      let time = ContinuousClock.now + duration
      let (number, isEarliest) = state.withLock { state in
        state.lastNumber += 1
        state.bodies[state.lastNumber] = body
        state.add(Place(time: time, number: state.lastNumber))
        guard state.next.map({ time < $0 }) ?? true else { return (state.lastNumber, false) }
        state.next = time
        return (state.lastNumber, true)
      }
      if isEarliest { wait(until: time) }
      return Deadline(number, self)
    }

    private func cancel(_ number: Int) {
      let body = state.withLock { state in
        let body = state.bodies.removeValue(forKey: number)
        // Seldom, since all are looked at.
        if state.places.count > 64 + 2 * state.bodies.count { state.dropCancelled() }
        return body
      }
      // What it alone retains is released without the lock.
      withExtendedLifetime(body) {}
    }

    private func wait(until time: ContinuousClock.Instant) {
      let seconds = max(0, (time - .now).inSeconds)
      queue.asyncAfter(deadline: .now() + min(seconds, 86_400)) { [self] in fire(time) }
    }

    /// - Parameter time: the time for which the timer was set.
    private func fire(_ time: ContinuousClock.Instant) {
      let (due, next) = state.withLock { state -> ([@Sendable () -> Void], ContinuousClock.Instant?) in
        let now = ContinuousClock.now
        var due: [@Sendable () -> Void] = []
        while let first = state.places.first, first.time <= now {
          state.removeFirst()
          if let body = state.bodies.removeValue(forKey: first.number) { due.append(body) }
        }
        // An earlier one has a timer of its own by now.
        guard state.next == time else { return (due, nil) }
        state.next = state.places.first?.time
        return (due, state.next)
      }
      for body in due { body() }
      if let next { wait(until: next) }
    }
  }

  // MARK: The heap

  extension Deadlines.State {
    fileprivate mutating func add(_ place: Deadlines.Place) {
      places.append(place)
      var index = places.count - 1
      while index > 0, places[index].time < places[(index - 1) / 2].time {
        places.swapAt(index, (index - 1) / 2)
        index = (index - 1) / 2
      }
    }

    fileprivate mutating func removeFirst() {
      places.swapAt(0, places.count - 1)
      places.removeLast()
      var index = 0
      while true {
        let children = (2 * index + 1)...(2 * index + 2)
        guard
          let least = children.filter({ $0 < places.count }).min(by: { places[$0].time < places[$1].time }),
          places[least].time < places[index].time
        else { return }
        places.swapAt(index, least)
        index = least
      }
    }

    fileprivate mutating func dropCancelled() {
      // A sorted array is a heap.
      places = places.filter { bodies[$0.number] != nil }.sorted { $0.time < $1.time }
    }
  }

  extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
  }
#endif
