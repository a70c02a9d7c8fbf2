public import Observation

extension EntityObserver {
  /// The value as an observable object, for SwiftUI and `withObservationTracking`.
  ///
  /// ```swift
  /// struct BookView: View {
  ///   @State var book: ObservedValue<Book>          // = observer.observed
  ///   var body: some View { Text(book.value.title) }
  /// }
  /// ```
  ///
  /// Each call makes a new object, to be kept as long as it is wanted.
  public var observed: ObservedValue<Value> { ObservedValue(self) }
}

/// A value in a store that tells when it has changed, made with ``EntityObserver/observed``.
///
/// It changes where the store calls its observers: by default on the main queue, and so on the main actor. It may be read
/// from any thread, and keeps the entity alive. Whoever reads ``value`` is told only of transactions that changed it.
public final class ObservedValue<Value: Sendable>: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let lock = Lock()
  // Unsafe to the compiler, which cannot see that both are used only while `lock` is held, once `init` has set them.
  nonisolated(unsafe) private var latest: Value
  nonisolated(unsafe) private var isReady = false
  // No `let`, because it needs `self`. Set once, in `init`, before anybody else has the object, and never read.
  nonisolated(unsafe) private var subscription: Subscription?

  init(_ observer: EntityObserver<Value>) {
    latest = observer.value
    subscription = observer.observe { [weak self] value in self?.receive(value) }
    lock.withLock { isReady = true }
  }

  /// The value that observers were last told.
  public var value: Value {
    registrar.access(self, keyPath: \.value)
    return lock.withLock { latest }
  }

  private func receive(_ value: Value) {
    // Before anybody is told, so that who then reads it, on whatever thread, has the new one.
    let isSeen = lock.withLock {
      latest = value
      return isReady
    }
    if isSeen { registrar.withMutation(of: self, keyPath: \.value) {} }
  }
}
