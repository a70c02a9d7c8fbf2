#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  extension PostgreSQLConditionWriter {
    /// A query for the keys of all rows of the innermost table for which a condition may hold, and maybe of further rows; `nil` if these may be all.
    /// In one query, since the server reads a table from end to end for a disjunction of several.
    mutating func keys(_ condition: StoredCondition) -> String? {
      let before = self
      if let sql = writeKeys(condition) { return sql }
      self = before
      return nil
    }

    private mutating func writeKeys(_ condition: StoredCondition) -> String? {
      switch condition {
      case .matches(let query, _): return query.candidates.flatMap { keys(of: $0) }
      case .hasElement(let index, let target, let condition):
        return condition.looksOut(of: 0) ? nil : owners(index, target) { $0.keys(condition) }
      // Each of them narrows; the first one that searches does.
      case .all(let conditions):
        for condition in conditions where condition.searches { if let keys = keys(condition) { return keys } }
        return nil
      case .any(let conditions): return keysOfAny(conditions)
      default: return nil
      }
    }

    private mutating func keysOfAny(_ conditions: [StoredCondition]) -> String? {
      var parts: [String] = []
      // What is searched for in one index is looked up at once.
      var candidates: [SearchCandidates] = []
      for condition in conditions where condition != .always(false) {
        if case .matches(let query, _) = condition {
          guard let found = query.candidates else { return nil }
          candidates.append(found)
        } else if condition.searches {
          guard let keys = keys(condition) else { return nil }
          parts.append(keys)
        } else {
          guard let keys = keysOfRows(condition) else { return nil }
          parts.append(keys)
        }
      }
      if !candidates.isEmpty {
        guard let keys = keys(of: candidates.count == 1 ? candidates[0] : .any(candidates)) else { return nil }
        parts.append(keys)
      }
      return parts.isEmpty ? nil : parts.joined(separator: " UNION ALL ")
    }

    /// A query for the keys that an index of words finds; `nil` if there is no index.
    private mutating func keys(of candidates: SearchCandidates) -> String? {
      guard let index = indexes[table.entity] else { return nil }
      return index.keys(bind(text: candidates.textQuery))
    }
  }
#endif
