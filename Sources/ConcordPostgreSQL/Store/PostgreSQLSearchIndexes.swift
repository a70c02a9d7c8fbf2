#if PostgreSQL
  import Concord
  import ConcordModel
  import Dispatch
  import Foundation

  /// The indexes of words of a store: which of them its role can use, and the folding of what other programs have written.
  final class PostgreSQLSearchIndexes: Sendable {
    private let indexes: [PostgreSQLSearchIndex]
    private let schema: String
    private let pool: PostgreSQLPool
    private let interval: TimeInterval
    private let state = Locked(State())

    private struct State {
      var use = SearchUse()
      var isFolding = false
      /// The time at which rows were folded last.
      var lastFolding = Date.distantPast
    }

    init(_ entities: [EntityDescription], schema: String, _ pool: PostgreSQLPool, interval: TimeInterval) {
      indexes = entities.compactMap { PostgreSQLSearchIndex($0) }
      (self.schema, self.pool, self.interval) = (schema, pool, interval)
    }

    /// The indexes that sessions use.
    var use: SearchUse { indexes.isEmpty ? SearchUse() : state.withLock { $0.use } }

    /// Lets sessions do without.
    func disuse() { state.withLock { $0.use = SearchUse() } }

    // MARK: What is there

    /// Finds out which indexes are there, in the form of this program, and what the role may do with them.
    func refresh() throws { try pool.with { try refresh($0) } }

    func refresh(_ connection: PostgreSQLConnection) throws {
      if indexes.isEmpty { return }
      let results = try connection.run(
        indexes.map { index in
          var parameters = PostgreSQLParameters()
          for name in [schema, index.entity.name, PostgreSQLSearchIndex.table(index.entity.name), index.form.name] {
            parameters.append(storedName(name))
          }
          return .once(
            """
            SELECT e.oid::text, has_table_privilege(w.oid, 'SELECT'),
              has_table_privilege(w.oid, 'INSERT') AND has_table_privilege(w.oid, 'UPDATE')
            FROM pg_namespace AS n JOIN pg_class AS e ON e.relnamespace = n.oid AND e.relname = $2
            JOIN pg_class AS w ON w.relnamespace = n.oid AND w.relname = $3
            JOIN pg_attribute AS a ON a.attrelid = w.oid AND a.attname = $4 AND NOT a.attisdropped
            WHERE n.nspname = $1
            """, parameters)
        })
      var (use, claims) = (SearchUse(), [String]())
      for (index, result) in zip(indexes, results) where result.count > 0 && result.bool(0, 1) {
        use.read[index.entity] = index
        guard result.bool(0, 2) else { continue }
        use.folded[index.entity] = index
        claims.append(index.claim(result.text(0, 0)))
      }
      if !claims.isEmpty { use.claim = claims.joined(separator: ",") }
      let found = use
      state.withLock { $0.use = found }
    }

    // MARK: Folding

    /// Folds all noted rows.
    func foldAll() throws {
      for index in use.folded.values { try fold(index, atMost: nil) }
      state.withLock { $0.lastFolding = Date() }
    }

    /// The number of rows that are folded in one transaction.
    private static let batch = 1_000
    /// The number of transactions with which what other programs have written is folded beside a search.
    private static let mostBatches = 20

    /// - Parameter batches: the greatest number of transactions; `nil` for all that are needed.
    private func fold(_ index: PostgreSQLSearchIndex, atMost batches: Int?) throws {
      var last: StoredValue?
      var (number, total) = (0, 0)
      while batches.map({ number < $0 }) ?? true {
        number += 1
        let (keys, isLast) = try pool.with { try Self.fold(index, after: last, $0) }
        total += keys.count
        last = keys.last
        if isLast { break }
      }
      // Otherwise the server takes a search's words for frequent until it finds that out by itself. A role that may not is only warned.
      if total >= Self.batch { try pool.with { _ = try $0.run([.once("ANALYZE \(index.table)")]) } }
    }

    /// Folds some noted rows.
    ///
    /// - Returns: their keys, and whether there are no more.
    private static func fold(
      _ index: PostgreSQLSearchIndex, after last: StoredValue?, _ connection: PostgreSQLConnection
    ) throws -> (keys: [StoredValue], isLast: Bool) {
      var parameters = PostgreSQLParameters()
      if let last { _ = index.keyForm.append(last, to: &parameters) }
      // What is read after the rows were locked is as new as their notes: who changes a text later notes it when the lock is gone.
      connection.later(.init(sql: "BEGIN ISOLATION LEVEL READ COMMITTED"))
      let noted: PostgreSQLResult
      do {
        noted = try connection.run([
          .init(sql: index.lock), .init(sql: index.noted(isFirst: last == nil, atMost: batch), parameters: parameters),
        ])[1]
      } catch let failure as PostgreSQLFailure where failure.code == "55P03" {
        _ = connection.rollBack()
        return ([], true)
      }
      let keys = (0..<noted.count).map { index.keyForm.read(noted, $0, 0) }
      if keys.isEmpty {
        try connection.run([.end])
        return ([], true)
      }
      var array = ParameterRows([index.keyForm.type])
      for key in keys { array.append { _ = index.keyForm.append(key, to: &$0) } }
      let texts = try connection.run([.init(sql: index.texts, parameters: array.arrays)])[0]
      var commands: [PostgreSQLConnection.Command] = []
      var vectors = SearchVectors(index)
      for row in 0..<texts.count {
        let (key, vector) = index.vector(texts, row)
        vectors.append(key, vector)
        if vectors.bytes > 1 << 22 {
          commands.append(.init(sql: index.fold, parameters: vectors.parameters))
          vectors = SearchVectors(index)
        }
      }
      if vectors.count > 0 { commands.append(.init(sql: index.fold, parameters: vectors.parameters)) }
      try connection.run(commands + [.end])
      return (keys, keys.count < batch)
    }

    /// Folds noted rows in the background after a search, unless that was done just now.
    func didSearch() {
      let isDue = state.withLock { state in
        guard !state.isFolding, state.use.claim != nil, Date().timeIntervalSince(state.lastFolding) >= interval else {
          return false
        }
        state.isFolding = true
        return true
      }
      guard isDue else { return }
      DispatchQueue.global(qos: .utility).async { [self] in
        // Searches find the rows without it: what fails here is tried again after a later one.
        for index in use.folded.values { try? fold(index, atMost: Self.mostBatches) }
        state.withLock { state in (state.isFolding, state.lastFolding) = (false, Date()) }
      }
    }
  }
#endif
