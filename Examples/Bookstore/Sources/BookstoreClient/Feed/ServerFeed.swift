import BookstoreKit
import ConcordConnect
import Foundation
import Synchronization

/// Follows what the server says, as long as there is a network: connects, fetches what it has missed, stores each event, and
/// connects again when the connection breaks.
final class ServerFeed: Sendable {
  typealias Take = @Sendable (ServerEvent) async throws -> Void

  private let network: Network
  /// Fetches what was missed.
  private let catchUp: @Sendable () async throws -> Void
  private let take: Take
  private let didChange: @Sendable (Bool) -> Void
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(
    _ network: Network, catchUp: @escaping @Sendable () async throws -> Void, take: @escaping Take,
    didChange: @escaping @Sendable (Bool) -> Void
  ) {
    self.network = network
    self.catchUp = catchUp
    self.take = take
    self.didChange = didChange
  }

  func start() {
    task.withLock { task in
      task?.cancel()
      task = Task { [self] in await follow() }
    }
  }

  func stop() { task.withLock { $0?.cancel() } }

  private func follow() async {
    var following: Task<Void, Never>?
    for await isOnline in network.reachability.states {
      following?.cancel()
      following = isOnline ? Task { await keepConnected() } : nil
      if Task.isCancelled { break }
    }
    following?.cancel()
  }

  private func keepConnected() async {
    while !Task.isCancelled {
      try? await connection()
      didChange(false)
      try? await Task.sleep(for: .milliseconds(.random(in: 200...600)))
    }
  }

  private func connection() async throws {
    let reader = try await WebSocketReader.connect(to: network.serverURL, path: "/events")
    defer { reader.close() }
    let (messages, continuation) = AsyncStream<ServerEvent>.makeStream()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { continuation.finish() }
        while let message = try await reader.next() {
          continuation.yield(try JSONDecoder().decode(ServerEvent.self, from: message))
        }
      }
      group.addTask { [self] in
        // The first event says that the feed has begun: what is fetched from now on, and what the feed says, is all.
        for await event in messages {
          if event.book == nil, event.author == nil, event.line == nil {
            try await catchUp()
            didChange(true)
          } else {
            try await take(event)
          }
        }
      }
      // Whoever ends first ends the other.
      try await group.next()
      group.cancelAll()
    }
  }
}
