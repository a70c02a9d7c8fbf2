import Foundation

#if canImport(UIKit) && !os(watchOS)
  import UIKit
#endif

/// Follows whether the device's protected data can be read: not while it is locked.
final class ProtectedData: Sendable {
  struct Names {
    let becomesUnavailable: Notification.Name
    let becameAvailable: Notification.Name

    /// The names of the system's notifications; `nil` on platforms without protected data.
    static var system: Names? {
      #if canImport(UIKit) && !os(watchOS)
        Names(
          becomesUnavailable: UIApplication.protectedDataWillBecomeUnavailableNotification,
          becameAvailable: UIApplication.protectedDataDidBecomeAvailableNotification)
      #else
        nil
      #endif
    }
  }

  // Unsafe, because the type is not `Sendable` everywhere; it is only given back.
  private nonisolated(unsafe) let tokens: [any NSObjectProtocol]

  /// - Parameter body: gets whether it can be read, when that changes.
  init(_ names: Names, _ body: @escaping @Sendable (Bool) -> Void) {
    let center = NotificationCenter.default
    tokens = [
      center.addObserver(forName: names.becomesUnavailable, object: nil, queue: nil) { _ in body(false) },
      center.addObserver(forName: names.becameAvailable, object: nil, queue: nil) { _ in body(true) },
    ]
  }

  deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
}
