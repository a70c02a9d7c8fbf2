#if Server && os(Linux)
  import ConcordServer
  import Testing

  /// Changes pages that a device has received and applied, so that they break *Bounded* or *Plain HTTP*, and tells whether the checker finds that.
  struct PlantedPages {
    let checker: PageChecker
    /// The pages as they have come, and what was read of them.
    private let pages: [(received: ReceivedPage, page: WirePage)]
    private let moments: [DeviceMoment]

    /// The ways in which pages are changed.
    enum Violation: String, CaseIterable {
      case withoutEnd = "a page without its last line was applied"
      case cutInLine = "a page that was cut in a line was applied"
      case withoutRow = "a page that has lost a row was applied"
      case unread = "a row that a page has brought is not in the file"
      case again = "a row comes that has not changed"
      case everything = "everything comes after a position that the server knows"
      case anew = "the device asks for everything although it has a position"
      case entered = "a row enters that was there"
      case otherCondition = "a subscription with another condition comes in part"
      case same = "a predicate over other rows brings what has not changed"
    }

    init(_ checker: PageChecker, _ pages: [ReceivedPage], _ moments: [DeviceMoment]) {
      self.checker = checker
      self.pages = pages.compactMap { received in WirePage(received).map { (received, $0) } }.filter(\.1.isComplete)
      self.moments = moments
    }

    /// A page that the device has applied, with the states of its file before and after.
    private struct Step {
      var received: ReceivedPage
      var page: WirePage
      var moments: [DeviceMoment]
      var rows: [String: WirePage.Row] { moments[0].pageRows }
    }

    private var steps: [Step] {
      let byEnd = Dictionary(pages.map { ($0.page.to, $0) }) { $1 }
      return zip(moments, moments.dropFirst()).compactMap { before, after in
        guard let to = after.position, before.position != nil, to != before.position, let page = byEnd[to],
          page.page.from == before.position
        else { return nil }
        return Step(received: page.received, page: page.page, moments: [before, after])
      }
    }

    /// Changes a page, and expects that this is found.
    ///
    /// - Returns: the ways for which there was a page.
    func check() throws -> Set<Violation> {
      var planted: Set<Violation> = []
      func plant(_ violation: Violation, _ step: Step?, _ change: (inout Step) -> WirePage?) throws {
        guard var step else { return }
        try #require(try checker.findings([step.page], step.moments).violations.isEmpty)
        let changed = change(&step)
        #expect(try !checker.findings([changed], step.moments).violations.isEmpty, "\(violation.rawValue)")
        planted.insert(violation)
      }
      let steps = steps
      func cut(_ received: ReceivedPage, _ change: (inout [Substring]) -> Void) -> WirePage? {
        var lines = received.answer.split(separator: "\n")
        change(&lines)
        return WirePage(ReceivedPage(request: received.request, answer: lines.joined(separator: "\n")))
      }
      try plant(.withoutEnd, steps.last) { cut($0.received) { $0.removeLast() } }
      try plant(.cutInLine, steps.last) { cut($0.received) { $0[$0.count - 1].removeLast() } }
      let full = steps.last { !$0.page.rows.isEmpty }
      try plant(.withoutRow, full) { step in
        cut(step.received) { lines in lines.remove(at: lines.lastIndex { $0.hasPrefix("{\"row\"") } ?? 0) }
      }
      let kept = steps.last { !Set($0.page.rows.keys).isDisjoint(with: $0.moments[1].pageRows.keys) }
      try plant(.unread, kept) { step in
        for name in step.page.rows.keys { step.page.rows[name]?.stamp += 1 }
        return step.page
      }

      // What follows a known position brings changes, of subscriptions that the device has.
      let known = steps.filter { step in
        checker.isKnown(step.page)
          && step.page.subscriptions.allSatisfy { $0.known != nil && $0.known == $0.condition && !$0.isWhole }
      }
      func cart(_ step: Step) -> String? { carts(step).min() }
      func carts(_ step: Step) -> Set<String> {
        Set(step.rows.keys.filter { $0.hasPrefix("Cart ") && step.page.rows[$0] == nil })
      }
      /// A cart that must not come: one that has changed meanwhile, and is again as it was, may.
      func unchanged(_ step: Step) throws -> String? {
        try carts(step).subtracting(checker.excused(step.page, step.rows)).min()
      }
      let ofUnchanged = try known.last { try unchanged($0) != nil }
      let again = try ofUnchanged.flatMap(unchanged)
      try plant(.again, ofUnchanged) { step in
        if let again { step.page.rows[again] = step.rows[again] }
        return step.page
      }
      func own(_ step: Step) -> Int? { step.page.subscriptions.firstIndex { $0.meaning == .carts } }
      let ofOwn = known.last { own($0) != nil && cart($0) != nil }
      try plant(.everything, ofOwn) { step in
        for name in step.rows.keys where step.page.rows[name] == nil { step.page.rows[name] = step.rows[name] }
        if let own = own(step) {
          step.page.subscriptions[own].isWhole = true
          step.page.subscriptions[own].entered = Set(step.page.rows.keys.filter { $0.hasPrefix("Cart ") })
        }
        return step.page
      }
      try plant(.anew, ofOwn) { step in
        (step.page.position, step.page.from) = (nil, nil)
        return step.page
      }
      /// A cart of the user that was there before.
      func firstOfMine(_ step: Step) throws -> String? {
        guard own(step) != nil, let position = step.page.position, let user = Int64(step.page.user) else { return nil }
        return try checker.checker.roots(of: .carts, at: position, for: user).min()
      }
      let ofMine = try known.last { try firstOfMine($0) != nil }
      let mine = try ofMine.flatMap { try firstOfMine($0) }
      try plant(.entered, ofMine) { step in
        if let own = own(step), let mine { step.page.subscriptions[own].entered.insert(mine) }
        return step.page
      }
      try plant(.otherCondition, ofOwn) { step in
        step.page.subscriptions[0].condition = "another"
        return step.page
      }
      /// The place of a predicate over other rows of which nothing has changed, and the carts that it has.
      func same(_ step: Step) throws -> (place: Int, carts: Set<String>)? {
        for (place, subscription) in step.page.subscriptions.enumerated() {
          guard let meaning = subscription.meaning, meaning.looksAtOtherRows, let position = step.page.position,
            let user = Int64(step.page.user), step.page.rows.isEmpty
          else { continue }
          return (place, try checker.checker.roots(of: meaning, at: position, for: user))
        }
        return nil
      }
      if checker.isSealed {
        let step = try known.last { try same($0) != nil }
        let found = try step.flatMap { try same($0) }
        try plant(.same, step) { step in
          guard let found else { return nil }
          step.page.rows = step.rows
          let inside = step.page.closure(of: found.carts)
          step.page.rows = step.page.rows.filter { inside.contains($0.key) }
          step.page.subscriptions[found.place].isWhole = true
          step.page.subscriptions[found.place].entered = found.carts
          return step.page
        }
      }
      return planted
    }
  }
#endif
