#if Persistence
  import ConcordModel
  import GRDB

  extension SQLiteSession: RankingReading {
    /// The number of hits from which on the rows of all are read, since these would be read twice.
    private static var mostRanked: Int { 1_000 }

    /// Ranks hits by the folded words that stand beside the index. Rows are read only of those that are noted, have long words, or are among
    /// the best: these have to be as their words tell.
    func best(_ query: RankedQuery) throws -> [RankedHit]? {
      guard query.limit <= Self.mostRanked, let ranking = try SQLiteRanking(query, self) else { return nil }
      var best = BestHits(query.limit)
      for statement in [ranking.indexed, ranking.noted] {
        let isNoted = statement.isOfRows
        try statement.visit(self) { statement in
          let texts = ranking.texts.map { text in
            let folded = statement.withText(at: Int32(text.offset + 1)) {
              isNoted ? FoldedText(bytes: $0) : FoldedText(indexedWords: $0)
            }
            return (text: folded ?? FoldedText(""), weight: text.weight)
          }
          if !isNoted, texts.contains(where: { $0.text.mayBeCut }) {
            let key = statement.value(at: 0)
            if let rank = try rank(of: key, query) { best.add(rank, key) }
          } else if let rank = query.search.rankIfHit(texts) {
            best.add(rank, statement.value(at: 0))
          }
        }
      }
      let hits = best.inOrder()
      // Another program may have changed rows without noting them.
      for hit in hits where try rank(of: hit.key, query) != hit.rank { return nil }
      return hits
    }

    /// The rank of a row by its texts; `nil` if it is no hit, or there is none.
    private func rank(of key: StoredValue, _ query: RankedQuery) throws -> Double? {
      try withRow(of: EntityKey(query.entity, key)) { source in
        query.search.rankIfHit(
          query.entity.searchablePositions.compactMap { position in
            source.text(at: position).map { (FoldedText($0), query.entity.columns[position].searchWeight ?? 1) }
          })
      } ?? nil
    }

    func explainBest(_ query: RankedQuery) throws -> (steps: [String], plan: QueryPlan)? {
      guard query.limit <= Self.mostRanked, let ranking = try SQLiteRanking(query, self) else { return nil }
      var (steps, plan) = ([String](), QueryPlan())
      for statement in [ranking.indexed, ranking.noted] {
        let lines = try statement.plan(self)
        steps += [statement.sql] + lines
        plan.add(QueryPlan(sqlite: lines, of: statement.sql))
      }
      return (steps, plan)
    }
  }

  /// The statements that give the words of those rows that may be hits of a search.
  private struct SQLiteRanking {
    struct Query {
      let sql: String
      let values: [StoredValue]
      /// Whether the query gives the texts of rows, and not folded words.
      let isOfRows: Bool

      private func withStatement<R>(
        _ sql: String, _ session: SQLiteSession, _ body: (SQLiteStatement) throws -> R
      ) throws -> R {
        let statement = try session.db.reusableStatement(sql)
        defer { statement.reset() }
        for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        return try body(statement)
      }

      func visit(_ session: SQLiteSession, _ body: (SQLiteStatement) throws -> Void) throws {
        try withStatement(sql, session) { statement in while try statement.step() { try body(statement) } }
      }

      func plan(_ session: SQLiteSession) throws -> [String] {
        try withStatement("EXPLAIN QUERY PLAN \(sql)", session) { statement in
          var lines: [String] = []
          while try statement.step() { lines.append(statement.text(at: 3) ?? "") }
          return lines
        }
      }
    }

    /// Each gives the key and the texts, in the order of their columns.
    let indexed: Query
    let noted: Query
    let texts: [(offset: Int, weight: Double)]

    /// - Returns: `nil` if the index does not tell the hits.
    init?(_ query: RankedQuery, _ session: SQLiteSession) throws {
      let (entity, others) = (query.entity, query.otherConditions)
      // A condition that may fail is asked of hits only.
      guard let candidates = query.search.candidates, let index = SQLiteSearchIndex(entity),
        !others.contains(where: \.mayFail), try session.hasSearchIndex(entity)
      else { return nil }
      texts = entity.searchablePositions.enumerated().map { ($0, entity.columns[$1].searchWeight ?? 1) }
      let condition = others.isEmpty ? nil : StoredCondition.all(others)
      var writer = SQLiteConditionWriter(
        try session.table(entity), isOrderedByKey: false, plainTexts: [],
        searched: try session.searchedEntities(query.condition, of: entity))
      let filter = try condition.map { " AND \(try writer.sql($0))" } ?? ""
      indexed = Query(
        sql: index.words(
          "?",
          where: condition.map { _ in
            "EXISTS (SELECT 1 FROM \(quoted(entity.name)) WHERE \"id\" = \(index.wordsKey)\(filter))"
          }),
        values: [.text(candidates.fts5)] + writer.values, isOfRows: false)
      let columns = (["\"id\""] + entity.searchablePositions.map { quoted(entity.columns[$0].name) })
      noted = Query(
        sql: """
          SELECT \(columns.joined(separator: ", ")) FROM \(quoted(entity.name)) \
          WHERE "id" IN (SELECT "key" FROM \(index.notes))\(filter)
          """,
        values: writer.values, isOfRows: true)
    }
  }
#endif
