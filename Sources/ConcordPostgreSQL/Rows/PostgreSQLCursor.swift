#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  /// The rows that a statement gives, which are fetched as they are needed.
  final class PostgreSQLCursor {
    private let session: PostgreSQLSession
    private var result: PostgreSQLResult
    private var position = -1
    /// The name of the server's cursor; `nil` if all rows are here.
    private var name: String?
    private var size = 256
    private static let largest = 4096

    /// All rows of a result.
    init(_ result: PostgreSQLResult, _ session: PostgreSQLSession) { (self.result, self.session) = (result, session) }

    /// Declares a cursor of the server, and fetches the first rows.
    init(_ sql: String, _ parameters: PostgreSQLParameters, _ session: PostgreSQLSession) throws {
      self.session = session
      session.willReadMore()
      session.cursorCount += 1
      let name = "c\(session.cursorCount)"
      self.name = name
      result = try session.run([
        .once("DECLARE \(name) NO SCROLL CURSOR FOR \(sql)", parameters), .once("FETCH \(size) FROM \(name)"),
      ])[1]
    }

    /// Goes to the next row, and returns it; `nil` behind the last.
    func next() throws -> (result: PostgreSQLResult, row: Int)? {
      position += 1
      if position >= result.count {
        guard let name, result.count == size else { return nil }
        size = min(2 * size, Self.largest)
        result = try session.run([.once("FETCH \(size) FROM \(name)")])[0]
        position = 0
        if result.count == 0 { return nil }
      }
      return (result, position)
    }

    /// Goes to the last row of those that are here.
    func skipResult() { position = result.count - 1 }

    func close() {
      guard let name else { return }
      session.connection.later(.once("CLOSE \(name)"))
    }
  }
#endif
