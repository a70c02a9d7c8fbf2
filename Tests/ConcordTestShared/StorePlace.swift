public import ConcordPersistence
import Foundation

#if PostgreSQL
  import ConcordPostgreSQL
#endif

extension PersistentContainer {
  /// Attaches the store of a process: a file in the folder with a path, or a schema of a database, which is written `postgresql://…#schema`.
  @discardableResult
  public func attachStore(at place: String) throws -> PersistentStore {
    #if PostgreSQL
      if place.hasPrefix("postgresql://"), let mark = place.lastIndex(of: "#") {
        return try attachPersistentStore(
          for: StoreConfiguration(
            type: .postgreSQL,
            options: [
              ConcordPostgreSQLOption: String(place[..<mark]),
              ConcordPostgreSQLSchemaOption: String(place[place.index(after: mark)...]),
              ConcordPostgreSQLTimeoutOption: 10.0,
            ]))
      }
    #endif
    return try attachPersistentStore(at: URL(fileURLWithPath: place))
  }
}
