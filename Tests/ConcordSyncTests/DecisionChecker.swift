#if Server
  import ConcordServer

  /// Compares the dead letters of devices with what servers have decided: a device that gives an action up by itself, as after an answer that
  /// was lost or a status of a proxy, would pass every other check, since the action has no effect then.
  struct DecisionChecker {
    /// The decisions on the actions of a user, by their keys, as servers have noted them.
    var decisions: [String: String] = [:]
    /// The dead letters of all devices of the user. Of those that are not decided, as far as their devices know, any may be.
    var letters: [FaultLetter] = []

    /// - Parameter store: the store of the servers.
    init(of user: Int, in store: any RowStore) throws {
      var decisions: [String: String] = [:]
      try store.read { reading in
        try reading.notes(in: "sync.decisions \(user)", after: nil) { key, note in
          decisions[key] = note
          return true
        }
      }
      self.decisions = decisions
    }

    init(decisions: [String: String], letters: [FaultLetter]) { (self.decisions, self.letters) = (decisions, letters) }

    /// The reasons that an action may be refused for: those of its rule and of its `apply`.
    private static func reasons(of name: String) -> Set<String> {
      let rule = "it is not allowed"
      return switch name {
      case AddLine.name: [rule, OutOfStock().description]
      case Append.name, RemoveLine.name, Give.name: [rule]
      // Everybody may rename a book.
      default: []
      }
    }

    /// The dead letters that no server has decided, or not so, and the refusals that no device has.
    var violations: [String] {
      var found: [String] = []
      for letter in letters where !letter.isUndecided {
        let name = "\(letter.action.map { "\($0)" } ?? "an unknown action") \(letter.key)"
        let note = decisions[letter.key]
        if note.flatMap(Self.reason(in:)) != letter.reason {
          found.append("\(name) was given up because of '\(letter.reason)', and the servers note \(note ?? "nothing")")
        }
        if !Self.reasons(of: letter.action?.name ?? "").contains(letter.reason) {
          found.append("\(name) was refused because of '\(letter.reason)', which is no reason of its own")
        }
      }
      for letter in letters where letter.isAccepted && decisions[letter.key] != "accepted" {
        let note = decisions[letter.key] ?? "nothing"
        found.append("\(letter.key) was accepted, says a device, and the servers note \(note)")
      }
      let keys = Set(letters.map(\.key))
      for (key, note) in decisions where Self.reason(in: note) != nil && !keys.contains(key) {
        found.append("the servers note '\(note)' of \(key), and no device has a dead letter")
      }
      return found
    }

    /// - Returns: the reason in a note of a refusal, "refused 1 because"; `nil` if it is none.
    private static func reason(in note: String) -> String? {
      let parts = note.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, parts[0] == "refused", let count = Int(parts[1]), count > 0 else { return nil }
      return String(parts[2])
    }

    // MARK: Planted violations

    /// - Returns: the changes of what there is, each of which breaks the law, that are not found.
    var unfound: [String] {
      var missed = violations.isEmpty ? [] : ["there is a violation without a change"]
      func plant(_ name: String, _ change: (inout DecisionChecker) -> Void) {
        var changed = self
        change(&changed)
        if changed.violations.isEmpty { missed.append(name) }
      }
      let rename = FaultAction(name: Rename.name, effect: "<0.0>")
      let append = FaultAction(name: Append.name, effect: "<0.0>")
      plant("a status became a dead letter") {
        $0.letters.append(FaultLetter(key: "planted", action: append, reason: "the server answered 502: Bad Gateway"))
      }
      plant("a lost answer became a dead letter, and the action was accepted") {
        $0.letters.append(FaultLetter(key: "planted", action: append, reason: "it is not allowed"))
        $0.decisions["planted"] = "accepted"
      }
      plant("a device takes what nobody has decided for accepted") {
        $0.letters.append(
          FaultLetter(
            key: "planted", action: append,
            reason: "it was sent for another user, for whom the server has accepted it"))
      }
      plant("a server refused because its store was away") {
        $0.letters.append(FaultLetter(key: "planted", action: append, reason: "the connection is gone"))
        $0.decisions["planted"] = "refused 1 the connection is gone"
      }
      plant("a server refused what everybody may do") {
        $0.letters.append(FaultLetter(key: "planted", action: rename, reason: "it is not allowed"))
        $0.decisions["planted"] = "refused 1 it is not allowed"
      }
      plant("a refusal did not come to the device") { $0.decisions["planted"] = "refused 1 it is not allowed" }
      guard let letter = letters.first else { return missed }
      plant("no server has noted a refusal") { $0.decisions[letter.key] = nil }
      plant("the servers have accepted what was refused") { $0.decisions[letter.key] = "accepted" }
      plant("the reason is another one") { $0.letters[0].reason = "it is not allowed, said the device" }
      plant("the dead letter is gone") { $0.letters.removeFirst() }
      return missed
    }
  }
#endif
