import Concord
import ConcordPersistence

/// A meter of a context's operations. Of nested calls the outermost counts as a block, and the time goes to the
/// innermost kind.
final class ContextMeter: Sendable {
  private let state = Locked(State())

  private struct State {
    var snapshot = ContextSnapshot()
    var depth = 0
    var isReading = false
    var isSaving = false
  }

  enum Kind { case block, reading, saving }

  var snapshot: ContextSnapshot { state.withLock { $0.snapshot } }

  /// Measures a call. The caller holds the context's lock, so that calls on other threads are not mistaken for nested ones.
  func measure<R>(_ kind: Kind, _ body: () throws -> R) rethrows -> R {
    let start = ContinuousClock.now
    let isCounted = state.withLock { state in
      state.depth += 1
      switch kind {
      case .block: return false
      case .reading:
        // A fetch inside of a fetch or a save is a part of it.
        if state.isReading || state.isSaving { return false }
        state.isReading = true
      case .saving:
        if state.isSaving { return false }
        state.isSaving = true
      }
      return true
    }
    defer {
      let time = (ContinuousClock.now - start).seconds
      state.withLock { state in
        state.depth -= 1
        if state.depth == 0 { state.snapshot.contextBlockTime += time }
        guard isCounted else { return }
        if kind == .reading {
          state.isReading = false
          state.snapshot.fetchTime += time
        } else {
          state.isSaving = false
          state.snapshot.saveTime += time
        }
      }
    }
    return try body()
  }

  func didFetch(_ count: Int) { state.withLock { $0.snapshot.fetches += count } }

  /// The measured saving includes reading.
  func didMerge(_ outcome: MergeOutcome) {
    didFetch(outcome.compared)
    didSave(outcome.counts)
    let time = outcome.readingTime.seconds
    state.withLock { state in
      state.snapshot.saveTime -= time
      state.snapshot.fetchTime += time
    }
  }

  func didSave(_ counts: PendingCounts) {
    state.withLock { state in
      state.snapshot.inserts += counts.inserts
      state.snapshot.updates += counts.updates
      state.snapshot.deletes += counts.deletes
    }
  }
}
