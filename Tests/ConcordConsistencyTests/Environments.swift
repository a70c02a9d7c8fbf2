import Concord
import ConcordConsistency

/// An owner that may be registered from anywhere, and looked at at any time.
final class Owner<Object: ConsistentObject>: Sendable {
  private struct State {
    var things: [Object]
    var updates: [any ConsistentObject] = []
    var removed: [any ConsistentObject] = []
    var onUpdate: @Sendable (any ConsistentObject) -> Void = { _ in }
  }

  // Not a `Mutex`, into which the thread sanitizer does not see.
  private let state: Locked<State>

  convenience init(_ things: Object...) {
    self.init(things)
  }

  init(_ things: [Object]) {
    state = Locked(State(things: things))
  }

  var things: [Object] {
    get { state.withLock { $0.things } }
    set { state.withLock { $0.things = newValue } }
  }
  var thing: Object { things[0] }
  /// What it was called with.
  var updates: [any ConsistentObject] { state.withLock { $0.updates } }
  /// Which of its things it was told of that they were removed.
  var removed: [any ConsistentObject] { state.withLock { $0.removed } }

  var onUpdate: @Sendable (any ConsistentObject) -> Void {
    get { state.withLock { $0.onUpdate } }
    set { state.withLock { $0.onUpdate = newValue } }
  }
}

extension Owner: ConsistentEnvironment {
  var objects: [ConsistentObject] { things }

  func update(with object: ConsistentObject) {
    let updated = things.updated(with: object)
    state.withLock {
      $0.updates.append(object)
      $0.things = updated
    }
    onUpdate(object)
  }

  func objectWasRemoved(_ object: ConsistentObject) {
    state.withLock { $0.removed.append(object) }
  }
}
