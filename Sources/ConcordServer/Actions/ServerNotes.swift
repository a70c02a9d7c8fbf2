#if Server
  import ConcordSync

  /// The notes of a server about the actions of a device, which are written in the transactions of their effects.
  struct ServerNotes {
    let user: String
    let device: String

    static let accepted = "accepted"

    /// The decision on an action: ``accepted``, or the number of refusals and the reason of the last one. Keys are those of a user, so
    /// that nobody learns of another user's.
    func decision(on key: String) -> NoteName { NoteName("sync.decisions \(user)", key) }

    /// The numbers of the device's actions: ``ActionCounts``.
    var count: NoteName { NoteName(devices, device) }

    /// The numbers of the actions of each of the user's devices.
    private var devices: String { "sync.devices \(user)" }

    /// Whether there are notes of the device, or may be beside those of the user's other devices.
    ///
    /// - Complexity: the number of these, where it is a new device.
    func mayBeMade(limit: Int, _ reading: any RowReading) throws -> Bool {
      if try reading.note(count) != nil { return true }
      var others = 0
      try reading.notes(in: devices, after: nil) { _, _ in
        others += 1
        return others < limit
      }
      return others < limit
    }

    /// The keys of the device's accepted actions, by their numbers.
    var order: String { "sync.actions \(device) \(user)" }

    func place(_ number: Int64) -> NoteName { NoteName(order, Self.text(of: number)) }

    /// The key of a refused action of the device, by the number of refused ones before it.
    func refusedPlace(_ number: Int64) -> NoteName { NoteName("sync.refused \(device) \(user)", Self.text(of: number)) }

    /// A number as a text, in the order of numbers.
    static func text(of number: Int64) -> String {
      let digits = "\(max(0, number))"
      return String(repeating: "0", count: 19 - digits.utf8.count) + digits
    }
  }
#endif
