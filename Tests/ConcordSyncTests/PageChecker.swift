#if Server && os(Linux)
  import ConcordServer

  /// Compares the pages that a device has received with what its file had before, and has after: *Bounded* and *Plain HTTP*.
  ///
  /// A row that is in the file as the server has it is not to come again, but where the documentation says so: in the first page and where another
  /// user's rows are replaced; with a subscription that is new, or whose predicate looks at other rows and something of it has changed; with a row
  /// that enters, and inside of what a row has got since, or has at another place of a list; where the servers forget the rows as they were, inside of any
  /// row that has changed; and a row that has changed and is again as it was.
  struct PageChecker {
    let checker: FaultChecker
    /// Whether the servers soon forget the rows as they were.
    let isForgetful: Bool
    /// Whether positions tell nothing, and contain what the device has.
    let isSealed: Bool

    /// What was found, and in how much.
    struct Findings {
      var violations: [String] = []
      /// The number of pages, also of those that were cut.
      var pages = 0
      /// The number of pages that were cut.
      var cut = 0
      /// The number of pages after a position that the server knew.
      var known = 0
      /// The number of rows in these.
      var rows = 0

      static func += (all: inout Findings, others: Findings) {
        all.violations += others.violations
        all.pages += others.pages
        all.cut += others.cut
        all.known += others.known
        all.rows += others.rows
      }
    }

    /// - Parameters:
    ///   - pages: the pages, in the order of their arrival; `nil` for one that was cut in its head.
    ///   - moments: the states that the file had.
    ///   - mayAskAnew: whether the device's model has changed, for which it gets everything once.
    func findings(_ pages: [WirePage?], _ moments: [DeviceMoment], mayAskAnew: Bool = false) throws -> Findings {
      var found = Findings(pages: pages.count, cut: pages.count { $0?.isComplete != true })
      // The last state at each position is that to which the next page was applied. Positions that tell something may be those of several users.
      var last: [String: DeviceMoment] = [:]
      for moment in moments {
        if let position = moment.position, let user = moment.user { last["\(user) \(position)"] = moment }
      }
      for page in pages {
        guard let page, page.isComplete, let position = page.position, let before = last["\(page.user) \(position)"]
        else { continue }
        guard isKnown(page) else { continue }
        found.known += 1
        found.rows += page.rows.count
        found.violations += try violations(page, before.pageRows)
      }
      let complete = Dictionary(pages.compactMap { $0 }.filter(\.isComplete).map { ($0.to, [$0]) }) { $0 + $1 }
      var anew = 0
      for (before, after) in zip(moments, moments.dropFirst()) where after.position != before.position {
        let position = after.position ?? ""
        let candidates = complete[position] ?? []
        guard
          let page = candidates.first(where: { $0.from == before.position })
            ?? candidates.first(where: { $0.from == nil })
        else {
          found.violations.append("no whole page has come that leads from \(before.position ?? "none") to \(position)")
          continue
        }
        if page.from == nil, before.position != nil { anew += 1 }
        let rows = after.pageRows
        for (name, row) in page.rows {
          guard let stored = rows[name], stored != row else { continue }
          found.violations.append("\(name) is \(stored), and came as \(row), at \(position)")
        }
      }
      if anew > (mayAskAnew ? 1 : 0) { found.violations.append("everything was asked for anew \(anew) times") }
      return found
    }

    /// Whether the server knew what has changed since the position of a page's request, for the user of the page.
    func isKnown(_ page: WirePage) -> Bool {
      guard page.knownUser == page.user, let position = page.position.flatMap(checker.opened),
        let changes = ShownChanges(position)
      else { return false }
      // Changes of transactions that were open then may have been merged with later ones.
      return !isForgetful || !changes.hasUnseen
    }

    /// - Parameter known: the rows in the file at the position of the request.
    /// - Returns: what the page brings although nothing has changed.
    private func violations(_ page: WirePage, _ known: [String: WirePage.Row]) throws -> [String] {
      var (found, excused) = try look(page, known)
      for (name, row) in page.rows where known[name] == row && !excused.contains(name) {
        found.append("\(name) comes, and has not changed,")
      }
      return found.map { "\($0) from \(page.from ?? "none") to \(page.to)" }
    }

    /// Returns the rows that may come with a page although the device has them.
    func excused(_ page: WirePage, _ known: [String: WirePage.Row]) throws -> Set<String> {
      try look(page, known).excused
    }

    /// Looks at the subscriptions of a page, and at what the page brings.
    private func look(
      _ page: WirePage, _ known: [String: WirePage.Row]
    ) throws -> (violations: [String], excused: Set<String>) {
      var found: [String] = []
      var excused: Set<String> = []
      for subscription in page.subscriptions {
        guard let meaning = subscription.meaning, let user = Int64(page.user), let position = page.position else {
          continue
        }
        guard let condition = subscription.known, condition == subscription.condition else {
          // It is new, or has another condition.
          if !subscription.isWhole { found.append("\(meaning) has another condition, and comes in part") }
          excused.formUnion(page.closure(of: subscription.entered))
          continue
        }
        let roots = try checker.roots(of: meaning, at: position, for: user)
        if meaning.looksAtOtherRows, subscription.isWhole {
          let inside = page.closure(of: subscription.entered)
          excused.formUnion(inside)
          let isSame = subscription.entered == roots && inside.allSatisfy { page.rows[$0] == known[$0] }
          if isSame, isSealed { found.append("\(meaning) comes whole, and nothing of it has changed") }
        } else if subscription.isWhole {
          if !isForgetful { found.append("\(meaning) comes whole, and the changes are known") }
          if isSealed, subscription.entered == roots { found.append("all keys of \(meaning) come, and are as before") }
        } else {
          let again = subscription.entered.intersection(roots)
          if !again.isEmpty { found.append("\(again) enter \(meaning), and were there") }
          excused.formUnion(page.closure(of: subscription.entered))
        }
      }
      if let position = page.position { excused.formUnion(try checker.changedBack(from: position, to: page.to)) }
      for (name, row) in page.rows where known[name] != row {
        // What stands at another place of a list counts as got.
        let before = isForgetful ? [] : known[name]?.inside ?? []
        let got = row.inside.enumerated().filter { !before.indices.contains($0) || before[$0] != $1 }.map(\.element)
        excused.formUnion(page.closure(of: got))
      }
      return (found, excused)
    }
  }
#endif
