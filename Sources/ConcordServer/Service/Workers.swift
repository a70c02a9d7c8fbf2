#if Server
  import Foundation

  /// The threads that wait for the store, so that those of Swift's concurrency do not.
  final class Workers: Sendable {
    private let queue = OperationQueue()

    init(count: Int) {
      queue.maxConcurrentOperationCount = max(1, count)
      queue.name = "concord.server"
    }

    func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
      try await withCheckedThrowingContinuation { continuation in
        queue.addOperation { continuation.resume(with: Result { try body() }) }
      }
    }
  }
#endif
