#if Server
  import Concord
  import ConcordSync
  import Foundation
  import HTTPTypes

  extension SyncService {
    /// Answers a request for a page: at once if something is new, or when something is, or when the time is over.
    func page(_ received: PageRequest, for user: User) async throws -> [UInt8] {
      try check(received.device)
      if let process = received.process { try check(process) }
      let name = text(of: user)
      let wait = min(received.wait.isFinite ? max(0, received.wait) : 0, limits.wait.inSeconds)
      let (prepared, asked) = try await workers.run(for: name, .pages) { [self] in
        let prepared = try prepare()
        let asked = try self.asked(by: received, user, prepared.seal)
        if wait > 0 { live.begin(prepared.store.rows) }
        return (prepared, asked)
      }
      let deadline = clock.now + .seconds(wait)
      let opened = received.position.flatMap { prepared.seal.opened($0) }
      let request = received.claimingNothing(beyond: opened)
      let place = WaitingPlace(DeviceName(name, request), process: request.process)
      // Nothing concerns the device between its own position and this one.
      var known = opened?.position
      // Whether it was woken before, and nothing was new.
      var isAgain = false
      while true {
        // Before the state is read, so that nothing between is missed.
        let ticket =
          wait > 0 ? try ticket(asked.compactMap(\.predicate), at: place) : nil
        let from = known
        let (made, cost) = try await workers.run(for: name, .pages) { [self] in
          let begin = ContinuousClock.now
          defer { metrics.pageRead(in: .now - begin) }
          try checkUnread(name)
          let unanswered = UnansweredRows()
          defer { unanswered.report(to: log) }
          let made = try prepared.store.rows.read { [limits] reading in
            reading.mayReadAgain()
            return try PageMaker(
              request: request, asked: asked, user: name, model: container.model, seal: prepared.seal, opened: opened,
              reading: reading, unanswered: unanswered, mostChanges: limits.differences
            ).page(knownFrom: from)
          }
          return (made, ContinuousClock.now - begin)
        }
        let looks = live.looks
        let remaining = deadline - clock.now
        // Another process of the device may wait with what it subscribed to before.
        if wait == 0 { live.replace(place.device) }
        guard made.page.isEmpty, let ticket, remaining > .zero, !live.isEnded else {
          return bytes(of: made, at: made.position, prepared.seal)
        }
        let isWoken = await ticket.wait(for: remaining, clock)
        // The changes up to there were looked at for all. They are not looked through again, by this request nor by the next one.
        let reached = live.position(after: looks, for: ticket)
        // Of a predicate that looks at other rows each commit wakes the request, and all is read.
        if isWoken, isAgain {
          await clock.sleep(for: min(cost * Self.pauseFactor, Self.longestPause, deadline - clock.now))
        }
        isAgain = true
        // The device may ask again meanwhile.
        if isWoken, !ticket.isReplaced {
          known = reached ?? made.position
          continue
        }
        return bytes(of: made, at: reached ?? made.position, prepared.seal)
      }
    }

    /// The pause before the next reading of a request that was woken again although the last one has found nothing new, by the time that this took, and the
    /// longest one: requests that are woken by each commit leave room for other requests.
    private static var pauseFactor: Int { 20 }
    private static var longestPause: Duration { .seconds(2) }

    /// A user's clients that do not read must not fill the memory with pages.
    private func checkUnread(_ user: String) throws {
      guard unread.count(of: user) >= limits.unreadBytesOfUser else { return }
      throw Rejection(
        status: .tooManyRequests, reason: "the user's devices have not read the pages before", retryAfter: 1,
        limit: .unreadBytesOfUser)
    }

    /// Returns the bytes of a page, with its position sealed together with what the page says.
    private func bytes(of made: PageMaker.Made, at position: StorePosition, _ seal: SyncSeal) -> [UInt8] {
      var page = made.page
      page.position = seal.closed(position, having: made.states)
      let bytes = page.bytes
      let kind: SyncMetrics.PageKind =
        page.isEmpty ? .empty : page.subscriptions.contains(where: \.isWhole) ? .whole : .changes
      metrics.page(kind, rows: page.rows.count, bytes: bytes.count)
      return bytes
    }

    private func asked(by request: PageRequest, _ user: User, _ seal: SyncSeal) throws -> [Asked] {
      let publications = publications.withLock { $0 }
      return try request.subscriptions.enumerated().map { index, subscription in
        // The others go on, and so do the actions of the device.
        guard index < limits.subscriptions else {
          return .refused("a device has at most \(limits.subscriptions.of("subscription"))")
        }
        guard let publication = publications[subscription.name] else { return .unknown }
        // Foundation for Linux traps where one is printed.
        if let (name, _) = subscription.parameters.first(where: { $1.date?.timeIntervalSince1970.isNaN == true }) {
          return .refused("the parameter '\(name.prefix(100))' is no date")
        }
        do {
          let predicate = try publication.predicate(user, subscription.parameters, container.model)
          return .served(predicate, condition: seal.digest(predicate.fingerprint + schema(of: predicate.entity)))
        } catch let refusal as Publication<User>.Refusal {
          return .refused(refusal.reason)
        } catch  where !mayPass(error) {
          log.unservedPublication(subscription.name, error)
          return .refused("it cannot be served")
        }
      }
    }

    /// The columns of an entity and of what it contains, as a text. Where they differ, the device has not got all of them.
    private func schema(of entity: EntityDescription) -> String {
      schemas.withLock { schemas in
        if let known = schemas[entity] { return known }
        let text = WireSchema(container.model.contained(in: entity)).fingerprint
        schemas[entity] = text
        return text
      }
    }

    private func ticket(_ predicates: [RowPredicate], at place: WaitingPlace) throws -> LiveTicket {
      do {
        return try live.ticket(
          predicates, at: place, limit: limits.waitingDevices, ofUser: limits.waitingDevicesOfUser)
      } catch LiveFeed.Full.user {
        throw Rejection(
          status: .tooManyRequests, reason: "too many devices of the user wait", limit: .waitingDevicesOfUser)
      } catch {
        throw Rejection(status: .tooManyRequests, reason: "too many devices wait", limit: .waitingDevices)
      }
    }

    /// A name that a device or a process gave itself must not fill the store or the memory.
    func check(_ device: String) throws {
      guard !device.isEmpty, device.utf8.count <= 64, device.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw WireError("a device's name has at most 64 visible characters of ASCII")
      }
    }
  }

  extension PageRequest {
    /// The request without the states that no page has named for its position: what held there for another condition is not the user's business.
    fileprivate func claimingNothing(beyond position: SyncSeal.Opened?) -> PageRequest {
      var request = self
      for (index, subscription) in subscriptions.enumerated() {
        if let known = subscription.known, position?.has(known) != true { request.subscriptions[index].known = nil }
      }
      return request
    }
  }
#endif
