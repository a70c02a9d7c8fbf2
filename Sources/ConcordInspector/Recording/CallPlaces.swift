#if Inspector
  import Concord
  import Dispatch

  /// The places of calls. Those of traces are looked up one after the other on a thread of their own, and known later.
  final class CallPlaces: Sendable {
    private let state = Locked(State())
    private let queue = DispatchQueue(label: "concord.inspector.places", qos: .utility)

    private struct State {
      var known: [AnyHashable: [CodePlace]] = [:]
      var wanted: Set<AnyHashable> = []
      var unanswered = 0
    }

    /// The number of traces that are remembered.
    private static var most: Int { 4_096 }

    /// The number of times that places were asked for and not known yet.
    ///
    /// An answer of many places is incomplete if this grew while it was made, also where the last of them is known by then.
    var unanswered: Int { state.withLock { $0.unanswered } }

    /// Returns the places of a call, the innermost first; none as long as they are not known.
    func places(of origin: CallOrigin?) -> [CodePlace] {
      switch origin {
      case .site(let site): [CodePlace(file: "\(site.file)", line: Int(site.line), function: nil)]
      case .trace(let trace): places(ofTrace: trace)
      case nil: []
      }
    }

    // By a name of its own: an origin is sendable, too, and would be taken for a trace.
    func places(ofTrace trace: any Sendable) -> [CodePlace] {
      let key = CallTrace.key(trace)
      let (known, isNew) = state.withLock { state -> ([CodePlace]?, Bool) in
        if let known = state.known[key] { return (known, false) }
        state.unanswered += 1
        return (nil, state.wanted.insert(key).inserted)
      }
      if isNew { queue.async { [weak self] in self?.resolve(trace) } }
      return known ?? []
    }

    private func resolve(_ trace: any Sendable) {
      let places = CallTrace.places(trace)
      let key = CallTrace.key(trace)
      state.withLock { state in
        if state.known.count >= Self.most { state.known = [:] }
        state.known[key] = places
        state.wanted.remove(key)
      }
    }
  }
#endif
