public import ConcordConnect
import Foundation

extension Connect {
  /// Begins to synchronise with a server. A connect has one synchronisation: its file has the position of one server, and the last one that
  /// begins carries its actions.
  ///
  /// An answer has at most 256 MiB. The first state of a subscription is one answer: pass an `HTTPTransport` with another limit to
  /// ``sync(over:wait:backoff:clock:token:)`` if it may be larger.
  ///
  /// - Parameters:
  ///   - url: the address of the server's routes.
  ///   - token: a closure that returns the token that each request carries as `Authorization: Bearer`; `nil` for none. A token is one user's: another
  ///     user has other ones. An error that it throws is no answer of the server: the request is tried again.
  /// - Returns: the synchronisation, which works as long as it is retained.
  public func sync(with url: URL, token: @escaping @Sendable () async throws -> String?) -> Sync {
    sync(
      over: HTTPTransport(
        baseURL: url, timeout: .seconds(3600), silence: .seconds(60), sizeLimit: 256 * 1024 * 1024), token: token)
  }

  /// Begins to synchronise with a server that a transport reaches.
  ///
  /// - Parameters:
  ///   - transport: the transport; its paths are relative to the server's routes.
  ///   - wait: how long a request may wait at the server for something new. With none the server is asked again and again, with the pause of
  ///     `backoff` after two failures between.
  ///   - backoff: the waits after failures.
  ///   - clock: the clock of the waits; a test can pass one that it moves.
  ///   - token: a closure that returns the token that each request carries; `nil` for none, as where the transport lets the user in. A token is one
  ///     user's: another user has other ones. An error that it throws is no answer of the server: the request is tried again.
  public func sync(
    over transport: any Transport, wait: Duration = .seconds(25),
    backoff: Backoff = Backoff(base: .milliseconds(500), cap: .seconds(30)),
    clock: any Clock<Duration> = ContinuousClock(), token: @escaping @Sendable () async throws -> String? = { nil }
  ) -> Sync {
    Sync(
      outbox: outbox, model: model, transport: transport,
      settings: SyncSettings(wait: wait, backoff: backoff, clock: clock), token: token)
  }
}
