#if Server
  import Concord
  import ConcordSync
  import Foundation
  import HTTPTypes

  extension SyncService {
    /// Decides an action, once.
    func decide(_ bytes: [UInt8], for user: User) async throws -> [UInt8] {
      // Read in the user's turn: further requests wait with their bytes, which take less.
      let (decision, device) = try await workers.run(for: text(of: user), .actions) { [self] in
        let message = try ActionMessage(try message(bytes))
        try check(message.device)
        try check(key: message.key)
        return (try decide(message, user), message.device)
      }
      metrics.action(isAccepted: decision == .accepted)
      if decision == .accepted { live.wake(DeviceName(user: text(of: user), device: device)) }
      return decision.wire.bytes
    }

    private func check(key: String) throws {
      guard !key.isEmpty, key.utf8.count <= 100, key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw WireError("a key has at most 100 visible characters of ASCII")
      }
    }

    private func decide(_ message: ActionMessage, _ user: User) throws -> ActionDecision {
      _ = try prepare()
      let coordinator = container.persistentStoreCoordinator
      guard let home = coordinator.homeAttachment else { throw StoreError.noStore(entity: message.name) }
      let notes = ServerNotes(user: text(of: user), device: message.device)
      do {
        let action = try actions.action(message)
        let keys = try action.keys(in: container.model)
        var change = PersistentStoreCoordinator.Change(touching: keys) { [actions] store in
          do {
            try actions.check(action, user, store)
            try action.apply(to: store)
          } catch {
            throw Self.refusal(error)
          }
        }
        change.mayReplaceOthers = false
        return try coordinator.write(notesOf: home) { writing, apply in
          if let known = try known(message, notes, writing) { return known }
          try checkUser(message, notes)
          // It may be one of those that are forgotten.
          guard try notes.knowsAll(since: message, writing) else {
            throw ActionRefusal(reason: "it is so old that the server cannot tell whether it was applied")
          }
          try checkDevice(notes, writing)
          _ = try apply(change)
          try notes.accept(message, keeping: limits.actions, writing)
          return .accepted
        }
      } catch let rejection as Rejection {
        // It says nothing about the action.
        throw rejection
      } catch let refusal as ActionRefusal {
        // Also if the action is not known here: a server of a later release must not apply what the network repeats to it.
        return try refuse(message, told(refusal.reason), notes, home)
      } catch is PersistentStoreCoordinator.ReplacesOther {
        return try refuse(message, "it changes an entity that it does not name", notes, home)
      } catch  where !mayPass(error) {
        return try refuse(message, "it does not apply to what is stored", notes, home)
      }
    }

    /// An action is decided once. A person may ask again for what was refused; a network that repeats itself may not.
    private func known(
      _ message: ActionMessage, _ notes: ServerNotes, _ reading: any RowReading
    ) throws -> ActionDecision? {
      guard let note = try reading.note(notes.decision(on: message.key)) else { return nil }
      if note == ServerNotes.accepted { return .accepted }
      let refused = Refused(note: note)
      return message.refusals < refused.count ? .refused(reason: refused.reason) : nil
    }

    /// Notes a refusal. The action may have been accepted meanwhile, by another server.
    private func refuse(
      _ message: ActionMessage, _ reason: String, _ notes: ServerNotes, _ home: StoreAttachment
    ) throws -> ActionDecision {
      try container.persistentStoreCoordinator.write(notesOf: home) { writing, _ in
        if let known = try known(message, notes, writing) { return known }
        try checkUser(message, notes)
        try checkDevice(notes, writing)
        let name = notes.decision(on: message.key)
        let earlier = try writing.note(name)
        if earlier == nil { try notes.refuse(message, keeping: limits.actions, writing) }
        let count = earlier.map { Refused(note: $0).count } ?? 0
        try writing.setNote(Refused(count: max(count, message.refusals) + 1, reason: reason).note, for: name)
        return .refused(reason: reason)
      }
    }

    /// The numbers that a device has noted of another user's actions say nothing about those of this one. The device has this user's numbers after
    /// its next page.
    private func checkUser(_ message: ActionMessage, _ notes: ServerNotes) throws {
      guard let user = message.user, user != notes.user else { return }
      throw Rejection(status: .conflict, reason: "the device has a page of another user, and needs one of this user")
    }

    /// A user must not fill the store with the notes of more and more devices.
    private func checkDevice(_ notes: ServerNotes, _ reading: any RowReading) throws {
      guard try !notes.mayBeMade(limit: limits.devicesOfUser, reading) else { return }
      throw Rejection(
        status: .tooManyRequests, reason: "the user has too many devices that have sent actions", limit: .devicesOfUser)
    }

    private static func refusal(_ error: any Error) -> any Error {
      switch error {
      case is ActionRefusal: error
      case _ where mayPass(error): error
      default: ActionRefusal(reason: toldReason(error, ofStore: "it does not apply to what is stored"))
      }
    }
  }

  /// A refusal as it is noted.
  private struct Refused {
    var count: Int64
    var reason: String

    init(count: Int64, reason: String) { (self.count, self.reason) = (count, reason) }

    init(note: String) {
      let parts = note.splitAtSpaces(maxSplits: 2)
      count = parts.count == 3 ? Int64(parts[1]) ?? 1 : 1
      reason = parts.count == 3 ? parts[2] : ""
    }

    var note: String { "refused \(count) \(reason)" }
  }
#endif
