package import Concord

/// A screen's hold on one value of the store: the newest value it was told of, and the subscription that keeps it new.
@MainActor
package final class Watch<Value: Sendable> {
  package private(set) var value: Value
  package private(set) var isPaused = false
  private var isStarted = false
  private var subscription: Subscription?

  /// `onChange` is called with the value before and the value after, and not for the first one.
  package init(_ observer: EntityObserver<Value>, onChange: @escaping @MainActor (Value, Value) -> Void) {
    value = observer.value
    subscription = observer.observe(on: MainActor.shared) { [weak self] new in
      guard let self else { return }
      let old = self.value
      self.value = new
      if isStarted { onChange(old, new) }
    }
    isStarted = true
  }

  package func pause() {
    isPaused = true
    subscription?.pause()
  }

  /// Catches up with the newest value.
  package func resume() {
    isPaused = false
    subscription?.resume()
  }
}
