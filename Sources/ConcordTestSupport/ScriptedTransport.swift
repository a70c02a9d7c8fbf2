import Concord
public import ConcordConnect

/// A transport that plays a script of faults.
///
/// ```swift
/// let transport = ScriptedTransport([.fail(TransportError.timedOut), .loseAnswer(TransportError.unreachable(reason: "reset"))])
/// connect.outbox.transport = transport
/// ```
///
/// Each request plays one step of the script. Requests after its end are passed on to the service.
public final class ScriptedTransport: Transport {
  /// The fate of a request.
  public enum Step: Sendable {
    /// The service receives the request, and its answer arrives.
    case pass
    /// The service does not receive the request.
    case fail(any Error)
    /// The service receives the request, and its answer is lost.
    case loseAnswer(any Error)
    /// The request gets the given answer, without the service.
    case answer(TransportResponse)
    /// The request waits until ``ScriptedTransport/release()``, and is then passed on. If it is cancelled meanwhile, the
    /// service does not receive it.
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
  ///   - script: the fates of the first requests.
  ///   - service: a closure that answers the requests which are passed on; by default with 204.
  public init(_ script: [Step] = [], service: @escaping Service = { _ in TransportResponse(status: 204) }) {
    state = Locked(State(script: script))
    self.service = service
  }

  /// All requests so far, in order.
  public var requests: [TransportRequest] { state.withLock { $0.requests } }
  /// The number of waiting requests.
  public var waiting: Int { state.withLock { $0.waiting.count } }

  /// Adds steps to the script.
  public func play(_ steps: Step...) { state.withLock { $0.script += steps } }

  /// Passes on all waiting requests. Those that begin to wait afterwards wait for the next call.
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
