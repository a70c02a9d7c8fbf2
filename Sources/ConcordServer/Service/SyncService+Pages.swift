#if Server
  import ConcordSync
  import Foundation
  import HTTPTypes

  extension SyncService {
    /// Answers a request for a page: at once if something is new, or when something is, or when the time is over.
    func page(_ message: WireValue, for user: User) async throws -> [UInt8] {
      let request = try PageRequest(message)
      guard request.subscriptions.count <= limits.subscriptions else {
        throw Rejection(
          status: .contentTooLarge, reason: "a device has at most \(limits.subscriptions) subscriptions")
      }
      try check(request.device)
      let asked = asked(by: request, user)
      let wait = min(request.wait.isFinite ? max(0, request.wait) : 0, limits.wait.inSeconds)
      let deadline = ContinuousClock.now + .seconds(wait)
      // Nothing concerns the device between its own position and this one.
      var known = request.position
      while true {
        // Before the state is read, so that nothing between is missed.
        let ticket =
          wait > 0 ? try ticket(asked.compactMap(\.predicate), device: DeviceName(text(of: user), request)) : nil
        let from = known
        let page = try await workers.run { [self, user = text(of: user)] in
          let store = try prepare()
          return try store.rows.read { reading in
            try PageMaker(request: request, asked: asked, user: user, model: container.model, reading: reading)
              .page(knownFrom: from)
          }
        }
        let remaining = deadline - .now
        guard page.isEmpty, let ticket, remaining > .zero, !live.isEnded else { return page.bytes }
        known = page.position
        if await !ticket.wait(for: remaining) { return page.bytes }
      }
    }

    private func asked(by request: PageRequest, _ user: User) -> [Asked] {
      let publications = publications.withLock { $0 }
      return request.subscriptions.map { subscription in
        guard let publication = publications[subscription.name] else { return .refused("there is no such publication") }
        do {
          return .served(try publication.predicate(user, subscription.parameters, container.model))
        } catch let refusal as Publication<User>.Refusal {
          return .refused(refusal.reason)
        } catch {
          return .refused("it cannot be served")
        }
      }
    }

    private func ticket(_ predicates: [RowPredicate], device: DeviceName) throws -> LiveTicket {
      guard let ticket = live.ticket(predicates, device: device, limit: limits.waitingDevices) else {
        throw Rejection(status: .tooManyRequests, reason: "too many devices wait")
      }
      return ticket
    }

    /// A name that a device gave itself must not fill the store.
    func check(_ device: String) throws {
      guard !device.isEmpty, device.utf8.count <= 64, device.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw WireError("a device's name has at most 64 visible characters of ASCII")
      }
    }
  }

  extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
  }
#endif
