import Concord
public import ConcordConnect

/// A transport that plays a script of faults.
///
/// ```swift
/// let transport = ScriptedTransport([.fail(TransportError.timedOut), .loseAnswer(TransportError.unreachable(reason: "reset"))])
/// connect.outbox.transport = transport
/// ```
///
/// Each request plays one step of the script, and what comes after its end is passed on to the service.
public final class ScriptedTransport: Transport {
  /// What becomes of a request.
  public enum Step: Sendable {
    /// The service gets it, and its answer arrives.
    case pass
    /// The service does not get it.
    case fail(any Error)
    /// The service gets it, and its answer is lost.
    case loseAnswer(any Error)
    /// Something else answers.
    case answer(TransportResponse)
    /// It waits until ``ScriptedTransport/release()``, and is passed on then. If it is cancelled meanwhile, the service does not get it.
    case wait
  }

  /// A closure that answers the requests which are passed on.
  public typealias Service = @Sendable (TransportRequest) async throws -> TransportResponse

  private struct State {
    var script: [Step]
    var requests: [TransportRequest] = []
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state: Locked<State>
  private let service: Service

  /// Creates a transport with a script.
  ///
  /// - Parameters:
  ///   - script: what becomes of the first requests, one after another.
  ///   - service: answers what is passed on; with 204, unless said otherwise.
  public init(_ script: [Step] = [], service: @escaping Service = { _ in TransportResponse(status: 204) }) {
    state = Locked(State(script: script))
    self.service = service
  }

  /// All requests so far, in order.
  public var requests: [TransportRequest] { state.withLock { $0.requests } }
  /// How many wait.
  public var waiting: Int { state.withLock { $0.waiting.count } }

  /// Adds steps to the script.
  public func play(_ steps: Step...) { state.withLock { $0.script += steps } }

  /// Lets all go on that wait. What begins to wait afterwards waits for the next call.
  public func release() {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting
    }
    for (_, continuation) in waiting.sorted(by: { $0.key < $1.key }) { continuation.resume() }
  }

  private func wait(as number: Int) async throws {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isCancelled = state.withLock { state in
          if Task.isCancelled { return true }
          state.waiting[number] = continuation
          return false
        }
        if isCancelled { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
    try Task.checkCancellation()
  }

  public func send(_ request: TransportRequest) async throws -> TransportResponse {
    let (number, step) = state.withLock { state in
      state.requests.append(request)
      return (state.requests.count, state.script.isEmpty ? .pass : state.script.removeFirst())
    }
    switch step {
    case .pass: return try await service(request)
    case .fail(let error): throw error
    case .loseAnswer(let error):
      _ = try await service(request)
      throw error
    case .answer(let response): return response
    case .wait:
      try await wait(as: number)
      return try await service(request)
    }
  }
}
