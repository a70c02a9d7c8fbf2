#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence
  import Foundation

  // Deletions are remembered, so that older values of what was deleted are not inserted.
  extension PostgreSQLSession {
    private func parameters(_ key: EntityKey) -> PostgreSQLParameters {
      var parameters = PostgreSQLParameters()
      parameters.append(PostgreSQLText.encode(key.entity.name))
      _ = ColumnForm.any.append(key.id, to: &parameters)
      return parameters
    }

    func deletion(of key: EntityKey) throws -> Stamp? {
      let result = try query(
        "SELECT stamp FROM concord_deletions WHERE \"table\" = $1 AND \"key\" = $2", parameters(key))
      return result.count > 0 ? Double(bitPattern: result.bits(0, 0)) : nil
    }

    func delete(_ key: EntityKey, stamp: Stamp) throws {
      try delete(key)
      guard deletionTime > 0 else { return }
      try rememberLater(key, stamp, sweeps: deletionCount.isMultiple(of: DeletionLimits.sweep))
      deletionCount += 1
    }
  }
#endif
