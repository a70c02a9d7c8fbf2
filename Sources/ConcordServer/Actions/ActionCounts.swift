#if Server
  import ConcordSync

  /// The numbers of a device's actions, as they are noted.
  struct ActionCounts {
    /// The number of the accepted ones, and of those among them whose keys are forgotten: the earliest ones.
    var accepted: Int64 = 0
    var forgotten: Int64 = 0
    /// The number of the refused ones, and of those among them whose keys are forgotten.
    var refused: Int64 = 0
    var forgottenRefused: Int64 = 0

    init(_ note: String?) {
      // What another program has written there is no number of actions.
      let numbers = note?.split(separator: " ").map { min(max(0, Int64($0) ?? 0), Self.most) } ?? []
      func number(_ index: Int) -> Int64 { index < numbers.count ? numbers[index] : 0 }
      (accepted, forgotten) = (number(0), number(1))
      (refused, forgottenRefused) = (number(2), number(3))
    }

    private static let most: Int64 = 1 << 53

    var note: String { "\(accepted) \(forgotten) \(refused) \(forgottenRefused)" }
  }

  extension ServerNotes {
    /// The factor of the kept keys if the device does not say that it has got the decisions in pages.
    private static let mostAwaited: Int64 = 10

    /// The number of keys that one action lets the server forget at most: many more are noted only where a limit became smaller.
    private static let mostForgotten: Int64 = 10_000

    /// A limit with which one can calculate.
    private static func bounded(_ limit: Int) -> Int64 { Int64(min(max(0, limit), 1_000_000_000)) }

    /// Notes that an action is accepted, and forgets the keys of early ones.
    ///
    /// - Parameter kept: the number of actions that are kept although the device has got their effects.
    func accept(_ message: ActionMessage, keeping kept: Int, _ writing: any RowWriting) throws {
      var counts = ActionCounts(try writing.note(count))
      counts.accepted += 1
      try writing.setNote(Self.accepted, for: decision(on: message.key))
      try writing.setNote(message.key, for: place(counts.accepted))
      let kept = Self.bounded(kept)
      let known = min(message.since, counts.accepted - kept)
      let wanted = max(counts.forgotten, known, counts.accepted - Self.mostAwaited * max(1, kept))
      let end = min(wanted, counts.forgotten + Self.mostForgotten)
      while counts.forgotten < end {
        counts.forgotten += 1
        let place = place(counts.forgotten)
        guard let key = try writing.note(place) else { continue }
        try writing.setNote(nil, for: decision(on: key))
        try writing.setNote(nil, for: place)
      }
      try writing.setNote(counts.note, for: count)
    }

    /// Notes the key of an action that is refused for the first time, and forgets early refusals.
    func refuse(_ message: ActionMessage, keeping kept: Int, _ writing: any RowWriting) throws {
      var counts = ActionCounts(try writing.note(count))
      counts.refused += 1
      try writing.setNote(message.key, for: refusedPlace(counts.refused))
      let kept = Self.bounded(kept)
      let known = min(message.sinceRefused, counts.refused - kept)
      let wanted = max(counts.forgottenRefused, known, counts.refused - Self.mostAwaited * max(1, kept))
      let end = min(wanted, counts.forgottenRefused + Self.mostForgotten)
      while counts.forgottenRefused < end {
        counts.forgottenRefused += 1
        let place = refusedPlace(counts.forgottenRefused)
        guard let key = try writing.note(place) else { continue }
        // It may have been accepted when a person asked again.
        if try writing.note(decision(on: key)) != Self.accepted { try writing.setNote(nil, for: decision(on: key)) }
        try writing.setNote(nil, for: place)
      }
      try writing.setNote(counts.note, for: count)
    }

    /// Whether the keys of the device's actions since the action was first sent are still known.
    func knowsAll(since message: ActionMessage, _ reading: any RowReading) throws -> Bool {
      let counts = ActionCounts(try reading.note(count))
      return message.since >= counts.forgotten && message.sinceRefused >= counts.forgottenRefused
    }
  }
#endif
