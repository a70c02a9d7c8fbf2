import Concord
import Foundation

#if canImport(UIKit) && !os(watchOS)
  import UIKit
#endif

/// Follows whether the device's protected data can be read: not while it is locked.
final class ProtectedData: Sendable {
  /// The source of the state.
  struct Source: Sendable {
    let becomesUnavailable: Notification.Name
    let becameAvailable: Notification.Name
    /// Returns the present state.
    let isAvailable: @MainActor @Sendable () -> Bool

    /// The system; `nil` on platforms without protected data.
    static var system: Source? {
      #if canImport(UIKit) && !os(watchOS)
        Source(
          becomesUnavailable: UIApplication.protectedDataWillBecomeUnavailableNotification,
          becameAvailable: UIApplication.protectedDataDidBecomeAvailableNotification
        ) {
          // Not by its name, which extensions of apps may not use.
          let shared = NSSelectorFromString("sharedApplication")
          guard UIApplication.responds(to: shared) else { return true }
          let application = UIApplication.perform(shared)?.takeUnretainedValue() as? UIApplication
          return application?.isProtectedDataAvailable ?? true
        }
      #else
        nil
      #endif
    }
  }

  // Unsafe, because the type is not `Sendable` everywhere; it is only given back.
  private nonisolated(unsafe) let tokens: [any NSObjectProtocol]

  /// - Parameter body: gets whether it can be read: `false` until that is known, and then each change.
  init(_ source: Source, _ body: @escaping @Sendable (Bool) -> Void) {
    let center = NotificationCenter.default
    // What is notified is newer than what is asked for at the beginning. The lock keeps both in order.
    let isNotified = Locked(false)
    func observe(_ name: Notification.Name, _ isAvailable: Bool) -> any NSObjectProtocol {
      center.addObserver(forName: name, object: nil, queue: nil) { _ in
        isNotified.withLock { isNotified in
          isNotified = true
          body(isAvailable)
        }
      }
    }
    @MainActor func ask() {
      let isAvailable = source.isAvailable()
      isNotified.withLock { isNotified in if !isNotified { body(isAvailable) } }
    }
    // The system may launch an app while the device is locked.
    body(false)
    tokens = [observe(source.becomesUnavailable, false), observe(source.becameAvailable, true)]
    #if canImport(Darwin)
      // At once on the main thread, which may wait for an action.
      if Thread.isMainThread {
        MainActor.assumeIsolated { ask() }
        return
      }
    #endif
    Task { @MainActor in ask() }
  }

  deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
}
