#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  extension PostgreSQLSession: AggregatingReading {
    func mayHaveIndexes(_ entity: EntityDescription) -> Bool { true }

    func aggregate(_ aggregation: RowAggregation) throws -> RowGroups? {
      let table = try table(aggregation.entity)
      guard let sql = PostgreSQLAggregation(aggregation, table, tables: knownTable) else { return nil }
      var commands = sql.statements
      if let others = sql.others {
        commands.append(
          .init(
            sql: """
              SELECT \(table.resultColumns) FROM \(identifier(aggregation.entity.name)) AS t WHERE \(others)
              """))
      }
      let results = try run(commands)
      var groups = RowGroups(aggregation)
      guard sql.add(results, to: &groups) else { return nil }
      guard sql.others != nil else { return groups }
      let cursor = PostgreSQLCursor(results[results.count - 1], self)
      while let (result, row) = try cursor.next() {
        let source = PostgreSQLRowSource(result, row, table, self)
        guard try StoredEvaluation(EvaluatedRow(source.key, source), self).holds(aggregation.condition) else {
          continue
        }
        try groups.add(source.key) { source.value(at: $0) }
      }
      return groups
    }

    func explain(_ aggregation: RowAggregation) throws -> (steps: [String], plan: QueryPlan)? {
      guard let sql = PostgreSQLAggregation(aggregation, try table(aggregation.entity), tables: knownTable) else {
        return nil
      }
      var (steps, plan) = ([String](), QueryPlan())
      for statement in sql.statements {
        let results = try run([
          .once("EXPLAIN \(statement.sql)", statement.parameters),
          .once("EXPLAIN (FORMAT JSON) \(statement.sql)", statement.parameters),
        ])
        steps += [statement.sql] + (0..<results[0].count).map { results[0].text($0, 0) }
        plan.add(QueryPlan(postgreSQL: results[1].count > 0 ? results[1].text(0, 0) : "").ofAllRows)
      }
      if sql.others != nil { steps.append("rows whose texts are in no composed form are looked at in memory") }
      return (steps, plan)
    }
  }
#endif
