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
      let prepared = try await workers.run { [self] in try prepare() }
      let asked = asked(by: request, user, prepared.seal)
      let wait = min(request.wait.isFinite ? max(0, request.wait) : 0, limits.wait.inSeconds)
      let deadline = ContinuousClock.now + .seconds(wait)
      // Nothing concerns the device between its own position and this one.
      var known = request.position.flatMap { prepared.seal.opened($0) }
      while true {
        // Before the state is read, so that nothing between is missed.
        let ticket =
          wait > 0 ? try ticket(asked.compactMap(\.predicate), device: DeviceName(text(of: user), request)) : nil
        let from = known
        let (found, position) = try await workers.run { [self, user = text(of: user)] in
          try prepared.store.rows.read { reading in
            try PageMaker(
              request: request, asked: asked, user: user, model: container.model, seal: prepared.seal, reading: reading
            ).page(knownFrom: from)
          }
        }
        var page = found
        let looks = live.looks
        let remaining = deadline - .now
        guard page.isEmpty, let ticket, remaining > .zero, !live.isEnded else { return page.bytes }
        known = position
        guard await !ticket.wait(for: remaining) else {
          // The device asks again meanwhile.
          if ticket.isReplaced { return page.bytes }
          continue
        }
        // A device that nothing concerns goes on, too: the changes since its position would be looked through again and again.
        if let position = live.position(after: looks, for: ticket) { page.position = prepared.seal.closed(position) }
        return page.bytes
      }
    }

    private func asked(by request: PageRequest, _ user: User, _ seal: SyncSeal) -> [Asked] {
      let publications = publications.withLock { $0 }
      return request.subscriptions.map { subscription in
        guard let publication = publications[subscription.name] else { return .refused("there is no such publication") }
        do {
          let predicate = try publication.predicate(user, subscription.parameters, container.model)
          return .served(predicate, condition: seal.digest(predicate.fingerprint + schema(of: predicate.entity)))
        } catch let refusal as Publication<User>.Refusal {
          return .refused(refusal.reason)
        } catch {
          return .refused("it cannot be served")
        }
      }
    }

    /// The columns of an entity and of what it contains, as a text. Where they are others, the device has not got all of them.
    private func schema(of entity: EntityDescription) -> String {
      schemas.withLock { schemas in
        if let known = schemas[entity] { return known }
        let text = WireSchema(container.model.contained(in: entity)).fingerprint
        schemas[entity] = text
        return text
      }
    }

    private func ticket(_ predicates: [RowPredicate], device: DeviceName) throws -> LiveTicket {
      do {
        return try live.ticket(
          predicates, device: device, limit: limits.waitingDevices, ofUser: limits.waitingDevicesOfUser)
      } catch LiveFeed.Full.user {
        throw Rejection(status: .tooManyRequests, reason: "too many devices of the user wait")
      } catch {
        throw Rejection(status: .tooManyRequests, reason: "too many devices wait")
      }
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
