#if Tool
  /// The forwarded actions of a file or a database.
  struct SourceOutbox {
    /// The number of pending actions; finished ones are not counted.
    let pending: Int
    let refused: Int
    /// Whether the table has an unknown form.
    var isStrange = false

    /// The counts in words; `nil` if there is nothing to say.
    var description: String? {
      let parts = [
        pending > 0 ? "\(grouped(pending)) \(pending == 1 ? "action is" : "actions are") to be sent" : nil,
        refused > 0 ? "\(grouped(refused)) \(refused == 1 ? "was" : "were") refused" : nil,
      ].compactMap { $0 }
      return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
  }
#endif
