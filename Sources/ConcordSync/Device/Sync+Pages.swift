import Concord
import ConcordConnect
import Foundation

extension Sync {
  /// Asks for the next page at once.
  func poke() {
    let isSending = outbox.isSending
    let (poll, sleep) = state.withLock { state in
      state.isPoked = true
      return (state.pollMayEnd || !isSending ? state.poll : nil, state.sleep)
    }
    poll?.cancel()
    sleep?.cancel()
  }

  /// Waits for a page after a number of pages.
  func nextPage(after generation: Int) async throws {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let isNow = state.withLock { state in
          if state.pages != generation || Task.isCancelled { return true }
          state.waiting[number] = continuation
          return false
        }
        if isNow { continuation.resume(with: Result { try Task.checkCancellation() }) }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(throwing: CancellationError())
    }
  }

  /// Asks for one page and applies it.
  ///
  /// - Returns: what the loop does before the next step, without the object.
  func step() async -> @Sendable () async -> Void {
    // Another process may send now, of whose attempts this one knows nothing.
    if !outbox.isSender { state.withLock { $0.sent = SentActions() } }
    guard outbox.isSending else {
      set(.offline(.notStarted))
      // Until the connect is started.
      return sleep(.seconds(3600), takingPoke: true)
    }
    // Of several processes with one file the one that sends follows the server. The others ask if somebody waits for it.
    guard outbox.isSender || state.withLock({ $0.isAsked }) else { return sleep(.seconds(3600)) }
    do {
      try await exchange()
      state.withLock { $0.failures = 0 }
      return {}
    } catch is CancellationError where Task.isCancelled || state.withLock({ $0.isPoked }) {
      return {}
    } catch {
      let reason = Self.reason(of: error)
      if case .upgradeRequired = reason { state.withLock { $0.isOutdated = true } }
      set(.offline(reason))
      var generator = SystemRandomNumberGenerator()
      let failures = state.withLock { state in
        defer { state.failures += 1 }
        return state.failures
      }
      // A wait that a clock can take, and that ends while people remember why.
      var least: Duration = min(max(Self.transportError(error)?.retryAfter ?? .zero, .zero), .seconds(3600))
      // Neither end should send and read so much again and again.
      if case .tooLarge = reason { least = Self.refusedInterval }
      return sleep(least + settings.backoff.delay(after: failures, using: &generator))
    }
  }

  /// Sleeps until it is poked, or was since the last request began.
  ///
  /// - Parameter takingPoke: whether no request follows the poke.
  private func sleep(_ duration: Duration, takingPoke: Bool = false) -> @Sendable () async -> Void {
    let task = Task { [clock = settings.clock] in _ = try? await clock.sleep(for: duration) }
    let isPoked = state.withLock { state in
      state.sleep = task
      defer { if takingPoke { state.isPoked = false } }
      return state.isPoked
    }
    if isPoked { task.cancel() }
    return {
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }

  /// The error of the transport that an error is; `nil` if it is another one.
  static func transportError(_ error: any Error) -> TransportError? {
    (error as? ServerFailure)?.error ?? error as? TransportError
  }

  private static func reason(of error: any Error) -> SyncOfflineReason {
    let isOfLimit = (error as? ServerFailure)?.isOfLimit ?? false
    return switch transportError(error) ?? error {
    case TransportError.status(401, _, _), TransportError.status(403, _, _): .unauthorized
    case TransportError.status(429, let reason, _): .limited(reason)
    case TransportError.status(503, let reason, _) where isOfLimit: .limited(reason)
    case TransportError.status(426, let reason, _): .upgradeRequired(reason)
    case let error as WireRowReader.Incompatible: .upgradeRequired("\(error)")
    case TransportError.tooLarge(let limit): .tooLarge(limit: limit)
    case let error as TransportError: .unreachable("\(error)")
    case is StoreError: .storeFailed("\(error)")
    // No store is attached.
    case Errors.notStarted: .notStarted
    default: .unreachable("\(error)")
    }
  }

  /// Returns the token of the next request.
  ///
  /// - Throws: what the closure throws if its task is cancelled or its own request for a token is not let in, and `TransportError/unreachable(reason:)`
  ///   otherwise: other errors are no answers of this server.
  func currentToken() async throws -> String? {
    do { return try await token() } catch {
      switch error {
      case is CancellationError, TransportError.status(401, _, _), TransportError.status(403, _, _): throw error
      default: throw TransportError.unreachable(reason: "there is no token: \(error)")
      }
    }
  }

  /// Sends a request to the server, with a token.
  ///
  /// - Throws: ``ServerFailure`` if it answers with another status than 2xx; what the transport throws.
  func send(_ path: String, _ body: WireValue, _ token: String?) async throws -> TransportResponse {
    var headers: HeaderFields = ["Content-Type": "application/json"]
    if let token { headers["Authorization"] = "Bearer \(token)" }
    let response = try await transport.send(TransportRequest("POST", path, headers: headers, body: Data(body.bytes)))
    do { return try response.successful() } catch TransportError.status(let status, let excerpt, let retryAfter) {
      throw ServerFailure(response, status, excerpt: excerpt, retryAfter: retryAfter)
    }
  }

  /// The time after which the server is asked again for what it has refused, or for an answer that was too large.
  private static var refusedInterval: Duration { .seconds(300) }
  /// The shortest time that requests may wait for without a pause after each.
  private static var leastWait: Duration { .seconds(1) }

  private func exchange() async throws {
    let begin = ContinuousClock.now
    let (isPoked, awaited, checkpoints, beginnings, asksRefused, hasForgotten) = state.withLock { state in
      defer { state.isPoked = false }
      return (
        state.isPoked, state.awaited, state.asked, Array(state.beginnings.keys),
        state.refusedAsked.map { begin - $0 > Self.refusedInterval } ?? true, state.hasForgottenEnded
      )
    }
    // What was subscribed to before is in the page.
    for beginning in beginnings { try await noted(beginning) }
    let known = try await outbox.writeNotes { [self] transaction in
      if !hasForgotten { try forgetEnded(transaction) }
      // Actions may have ended while nobody synchronised, or while a store was detached with rows that stayed for them.
      if !hasForgotten || isPoked { try actionsDidEnd(transaction) }
      return try DeviceState(transaction.rows, model, fingerprint: fingerprint)
    }
    state.withLock { $0.hasForgottenEnded = true }
    let isCaughtUp = known.position != nil && !known.subscriptions.contains { $0.state.isNew }
    let mayWait = isCaughtUp && !isPoked && awaited.isEmpty && status == .upToDate && outbox.isSender
    // Who is offline is that until there is an answer.
    if !isCaughtUp, status == .upToDate || status == .offline(.notStarted) { set(.catchingUp(done: 0, total: 0)) }
    let asked = known.asked(asksRefused: asksRefused)
    let request = known.request(
      for: asked, by: process, awaited: awaited, wait: mayWait ? settings.wait : .zero)
    let (response, token) = try await poll(request, mayBeCancelled: mayWait)
    let arrival = Arrival(page: try Page(parsing: response.body, model), request: request, asked: asked, token: token)
    let page = arrival.page
    guard let changed = try await apply(arrival, isShown: !isCaughtUp) else {
      let misfits = state.withLock { state in
        state.misfits += 1
        return state.misfits
      }
      var generator = SystemRandomNumberGenerator()
      if misfits > 1 { await sleep(settings.backoff.delay(after: misfits - 2, using: &generator))() }
      return state.withLock { $0.isPoked = true }
    }
    let repetition = Repetition(of: asked, in: page, changed: changed)
    let (waiting, isComplete, wasOutdated, repeats) = state.withLock { state in
      defer { state.isOutdated = false }
      state.misfits = 0
      state.repeats = repetition == .none ? 0 : state.repeats + 1
      if asksRefused { state.refusedAsked = begin }
      state.pages += 1
      state.count(awaited: awaited, contained: Set(page.keys))
      state.answered = max(state.answered, checkpoints)
      return (state.takeAllWaiting(), state.beginnings.count <= beginnings.count, state.isOutdated, state.repeats)
    }
    if wasOutdated || known.user != nil && known.user != page.user { outbox.carrierIsReady() }
    set(isComplete ? .upToDate : .catchingUp(done: 0, total: 0))
    for continuation in waiting { continuation.resume() }
    // A server that does not wait is about to stop, or wants to be asked less often.
    let isEmptyAtOnce = mayWait && page.isEmpty && ContinuousClock.now - begin < max(settings.wait, Self.leastWait) / 4
    guard let failures = isEmptyAtOnce ? 2 : repetition.failures(after: repeats) else { return }
    var generator = SystemRandomNumberGenerator()
    await sleep(settings.backoff.delay(after: failures, using: &generator))()
  }

  /// The part of the subscriptions of the file that a page brings again.
  private enum Repetition {
    /// Nothing.
    case none
    /// One that comes whole, and changes nothing: the server could not tell, as where a predicate looks at other rows, or a position is void.
    case same
    /// One that comes whole by another condition, as where a date in it moves on with each request, or servers differ.
    case otherCondition

    init(of asked: [NotedSubscription], in page: Page, changed: Int) {
      let whole = zip(asked, page.subscriptions).filter { $0.state.isKnown && $1.isWhole }
      if whole.contains(where: { $0.state.condition != $1.condition }) {
        self = .otherCondition
      } else {
        self = whole.isEmpty || changed > 0 ? .none : .same
      }
    }

    /// Returns the number of failures after which a pause is as long as that after some successive pages; `nil` for none.
    func failures(after pages: Int) -> Int? {
      switch self {
      case _ where pages < 2: nil
      case .none: nil
      // Something may change soon that somebody looks at.
      case .same: 2
      case .otherCondition: pages
      }
    }
  }

  /// Sends the request, until the connect is stopped. One that may wait for long is cancelled by a poke.
  ///
  /// - Returns: the answer, and the token of the request.
  private func poll(
    _ request: PageRequest, mayBeCancelled: Bool
  ) async throws -> (response: TransportResponse, token: String?) {
    let task = Task { () -> (response: TransportResponse, token: String?) in
      let token = try await currentToken()
      return (try await send("pages", request.wire, token), token)
    }
    let mustEnd = state.withLock { state in
      (state.poll, state.pollMayEnd) = (task, mayBeCancelled)
      return mayBeCancelled && state.isPoked
    }
    if mustEnd || !outbox.isSending { task.cancel() }
    defer { state.withLock { $0.poll = nil } }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// A page that has arrived.
  private struct Arrival: Sendable {
    let page: Page
    let request: PageRequest
    /// The subscriptions that the request was for.
    let asked: [NotedSubscription]
    /// The token of the request; `nil` if there was none.
    let token: String?
  }

  /// Applies a page, its position and the ends of its actions in one transaction.
  ///
  /// - Parameter isShown: whether the status tells of it also if it has few rows.
  /// - Returns: the number of changed rows; `nil` if the file has another position meanwhile.
  private func apply(_ arrival: Arrival, isShown: Bool) async throws -> Int? {
    let total = arrival.page.rows.count
    let isLarge = total >= PageApplication.rowsOfStep
    if isLarge || isShown && total > 0 { set(.catchingUp(done: 0, total: total)) }
    guard isLarge else { return try await write(arrival) { _ in } }
    // Whoever observes the status may read the store, and must not do so within its transaction.
    let (steps, step) = AsyncStream<Int>.makeStream(bufferingPolicy: .bufferingNewest(1))
    async let showing: Void = { for await done in steps { set(.catchingUp(done: done, total: total)) } }()
    let changed = try await write(arrival) { step.yield($0) }
    step.finish()
    await showing
    return changed
  }

  private func write(_ arrival: Arrival, _ progress: @escaping @Sendable (Int) -> Void) async throws -> Int? {
    let keys = Set(arrival.page.keys)
    let written: (changed: Int, givenUp: Set<String>)? = try await outbox.writeNotes { [self, outbox] transaction in
      let (page, writing) = (arrival.page, transaction.rows)
      let user = try writing.note(SyncNotes.Head.user.name)
      var givenUp: Set<String> = []
      let application = PageApplication(
        page: page, request: arrival.request, asked: arrival.asked, model: model, fingerprint: fingerprint,
        pending: { [self] in
          if user != nil, user != page.user {
            givenUp = try giveUpSent(besides: page.user, arrival.token, transaction)
          }
          return try outbox.pendingKeys(without: keys, in: transaction)
        }, unfinished: { try outbox.unfinishedKeys(in: transaction) }, writing: writing, progress: progress)
      guard let changed = try application.run() else { return nil }
      try outbox.end(keys, changed: changed, transaction)
      for key in keys { try writing.setNote(nil, for: SyncNotes.sending(key)) }
      return (changed.count, givenUp)
    }
    if let written {
      state.withLock { state in
        for key in keys where state.carried[key] != nil { state.carried[key] = .applied }
        for key in keys { state.sent.remove(key) }
        for key in written.givenUp where state.carried[key] != nil { state.carried[key] = .givenUp }
      }
    }
    return written?.changed
  }
}

extension TransportError {
  /// The time that the server asks clients to wait.
  var retryAfter: Duration? { if case .status(_, _, let retryAfter) = self { retryAfter } else { nil } }
}
