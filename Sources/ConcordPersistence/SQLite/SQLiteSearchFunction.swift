#if Persistence
  import GRDBSQLite

  // Relies on: what SQLite keeps beside a statement's argument is released by the function that is given with it, when the statement ends;
  // the pointers of values are valid until the function returns.

  /// The function with which a query asks whether texts are a hit of a search.
  enum SQLiteSearchFunction {
    /// The search that is made of the first argument, once in a statement.
    private final class Search {
      let query: SearchQuery
      init(_ text: String) { query = SearchQuery(text) }
    }

    static func register(_ connection: OpaquePointer) throws {
      let code = sqlite3_create_function_v2(
        connection, SQLiteFunctions.matches, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nil,
        { context, count, values in
          guard count > 0, let values, let text = SQLiteSearchFunction.text(values[0]) else {
            return sqlite3_result_int(context, 0)
          }
          let texts = (1..<Int(count)).map { SQLiteSearchFunction.text(values[$0]) }
          if let known = sqlite3_get_auxdata(context, 0) {
            let search = Unmanaged<Search>.fromOpaque(known).takeUnretainedValue()
            return sqlite3_result_int(context, search.query.matches(texts) ? 1 : 0)
          }
          let search = Search(text)
          sqlite3_result_int(context, search.query.matches(texts) ? 1 : 0)
          sqlite3_set_auxdata(context, 0, Unmanaged.passRetained(search).toOpaque()) { known in
            if let known { Unmanaged<Search>.fromOpaque(known).release() }
          }
        }, nil, nil, nil)
      if code != SQLITE_OK { throw SQLiteFailure(code: code, message: "functions cannot be registered") }
    }

    private static func text(_ value: OpaquePointer?) -> String? {
      guard sqlite3_value_type(value) == SQLITE_TEXT, let bytes = sqlite3_value_text(value) else { return nil }
      return String(
        decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
    }
  }
#endif
