#if Tool
  import ConcordPersistence
  import Foundation
  import GRDB
  import GRDBSQLite

  /// An open file.
  struct SQLiteFile {
    /// The name of the file as given.
    let name: String
    let path: String
    private let queue: DatabaseQueue
    /// Whether SQLite had to create files beside it in order to read it.
    private let leavesTraces: Bool

    /// Opens a file for reading, passes it to `body`, and closes it. `body` reads one state of the file.
    static func reading<R>(_ options: SourceOptions, _ body: (SQLiteSource) throws -> R) throws -> R {
      let file = try SQLiteFile(options, readOnly: true)
      defer { file.close() }
      return try ToolError.translating(file.name) {
        try Interruption.interrupting({ [queue = file.queue] in queue.interrupt() }) {
          try file.queue.inDatabase { db in
            var result: R?
            try db.inTransaction(.deferred) {
              result = try body(SQLiteSource(file, db))
              return .commit
            }
            guard let result else { throw ToolError(.failed, "nothing was read") }
            return result
          }
        }
      }
    }

    /// Opens a file for writing, passes it to `body`, and closes it. `body` begins transactions itself.
    static func writing<R>(_ options: SourceOptions, _ body: (SQLiteSource) throws -> R) throws -> R {
      let file = try SQLiteFile(options, readOnly: false)
      defer { file.close() }
      return try ToolError.translating(file.name) {
        try Interruption.interrupting({ [queue = file.queue] in queue.interrupt() }) {
          try file.queue.inDatabase { db in try body(SQLiteSource(file, db)) }
        }
      }
    }

    private init(_ options: SourceOptions, readOnly: Bool) throws {
      name = options.file
      // A relative name that begins with `file:` would be interpreted as a URI.
      path = URL(fileURLWithPath: options.file).path
      try Self.checkPresent(path, name)
      var configuration = Configuration()
      configuration.readonly = readOnly
      configuration.busyMode = .timeout(options.wait)
      configuration.foreignKeysEnabled = false
      configuration.prepareDatabase { db in
        // The file may come from elsewhere: functions that its schema calls are not trusted, and sizes of cells are checked.
        try db.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
      }
      let hasLog = FileManager.default.fileExists(atPath: path + "-wal")
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      // Without a log no process has the file open, and where none can be created, no process writes to it.
      let isFixed = readOnly && !hasLog && !FileManager.default.isWritableFile(atPath: folder)
      leavesTraces = readOnly && !hasLog && !isFixed
      let path = path
      queue = try ToolError.translating(name) {
        try DatabaseQueue(path: isFixed ? Self.immutableURI(path) : path, configuration: configuration)
      }
    }

    private static func checkPresent(_ path: String, _ name: String) throws {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw ToolError(.missing, "\(name) is not there")
      }
      if isFolder.boolValue { throw ToolError(.missing, "\(name) is a folder") }
      guard FileManager.default.isReadableFile(atPath: path) else {
        throw ToolError(.missing, "\(name) cannot be read")
      }
    }

    private static func immutableURI(_ path: String) -> String {
      var parts = URLComponents()
      parts.scheme = "file"
      parts.path = path
      parts.queryItems = [URLQueryItem(name: "immutable", value: "1")]
      return parts.string ?? path
    }

    private func close() {
      try? queue.close()
      guard leavesTraces, FileManager.default.isWritableFile(atPath: path) else { return }
      // A connection that only reads cannot remove the log and the shared memory that it had to make. One that may write
      // does so when it closes, unless somebody else uses the file by now. It writes nothing: there is nothing in the log.
      var configuration = Configuration()
      configuration.busyMode = .immediateError
      let queue = try? DatabaseQueue(path: path, configuration: configuration)
      try? queue?.close()
    }

    /// The sizes of the file and its log, in bytes.
    var size: (file: Int64, log: Int64) { (Self.size(path), Self.size(path + "-wal")) }

    private static func size(_ path: String) -> Int64 {
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
  }
#endif
