#if Persistence
  import ConcordModel
  import Foundation
  import GRDB

  /// An inspection of a file before it is opened, which leaves a refused file, its log and its shared memory unchanged
  /// to the byte.
  ///
  /// SQLite itself leaves traces: it makes and removes the log and the shared memory, and copies the log into the file.
  /// A file without a log is opened as immutable, which leaves none; of a file with a log only readable shared memory
  /// is used. All reads go through SQLite, since closing a file opened in another way drops this process's locks on it.
  struct SQLiteInspection {
    let url: URL
    let schema: SQLiteSchema

    /// - Throws: ``/ConcordModel/StoreError/foreignStore(store:kind:)`` for a file of another program,
    ///   ``/ConcordModel/StoreError/damagedStore(store:reason:)``, and what the schema is refused for.
    func run() throws {
      guard let size = Self.size(url.path), size > 0 else { return }
      // Another process may be writing at this moment; then the result is discarded.
      for _ in 0..<3 {
        let beside = sizesBeside
        if try look(beside) || sizesBeside == beside { return }
      }
    }

    /// - Returns: `false` if the file's content could not be read.
    private func look(_ beside: [String: Int]) throws -> Bool {
      let hasLog = beside["-wal", default: 0] > 0
      if hasLog, beside["-shm"] != nil, let found = try? inspect("mode=ro&readonly_shm=1") {
        try found.check(isExact: true)
        return true
      }
      do {
        let found = try inspect("immutable=1")
        guard sizesBeside == beside else { return false }
        if hasLog, found.isEmpty { return try lookAtCopy() }
        try found.check(isExact: !hasLog && beside["-journal", default: 0] == 0)
        return true
      } catch let error as DatabaseError where error.isDamage {
        // What a crash has left of a transaction is put right by opening the file.
        guard sizesBeside == beside, !hasLog, beside["-journal", default: 0] == 0 else { return false }
        throw error
      } catch is DatabaseError {
        return false
      }
    }

    /// Reads a copy: the content is in the log, and without shared memory no process has the file open.
    private func lookAtCopy() throws -> Bool {
      let manager = FileManager.default
      let folder = manager.temporaryDirectory.appendingPathComponent("concord-\(UUID().uuidString)")
      defer { try? manager.removeItem(at: folder) }
      let copy = folder.appendingPathComponent("copy.sqlite")
      do {
        try manager.createDirectory(at: folder, withIntermediateDirectories: false)
        for suffix in ["", "-wal"] { try manager.copyItem(atPath: url.path + suffix, toPath: copy.path + suffix) }
      } catch { return false }
      guard let found = try? SQLiteInspection(url: copy, schema: schema).inspect("") else { return false }
      try found.check(isExact: true)
      return true
    }

    private static func size(_ path: String) -> Int? {
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return (attributes?[.size] as? NSNumber)?.intValue
    }

    private var sizesBeside: [String: Int] {
      Dictionary(
        uniqueKeysWithValues: ["-wal", "-shm", "-journal"].compactMap { suffix in
          Self.size(url.path + suffix).map { (suffix, $0) }
        })
    }

    // MARK: Results

    private struct Finding {
      /// The kind of file, if it belongs to another program.
      let kind: String?
      let isEmpty: Bool
      /// The error for which the schema is refused.
      let refusal: StoreError?
      let store: String

      func check(isExact: Bool) throws {
        if let kind { throw StoreError.foreignStore(store: store, kind: kind) }
        if isExact, let refusal { throw refusal }
      }
    }

    private func inspect(_ query: String) throws -> Finding {
      var configuration = Configuration()
      configuration.readonly = query.contains("mode=ro") || query.contains("immutable")
      configuration.busyMode = .timeout(1)
      configuration.label = "concord.inspection"
      configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
      var uri = URLComponents()
      uri.scheme = "file"
      uri.path = url.path
      uri.query = query.isEmpty ? nil : query
      let queue = try DatabaseQueue(path: uri.string ?? url.path, configuration: configuration)
      defer { try? queue.close() }
      return try queue.read { db in
        let names = try String.fetchAll(
          db, sql: "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY rowid")
        let kind = Self.kind(names)
        var refusal: StoreError?
        if kind == nil {
          do { try schema.check(db) } catch let error as StoreError { refusal = error }
        }
        return Finding(kind: kind, isEmpty: names.isEmpty, refusal: refusal, store: schema.store)
      }
    }

    /// Returns the kind of a file by the names of its tables; `nil` if it is Concord's, or has no tables.
    private static func kind(_ names: [String]) -> String? {
      if names.isEmpty || names.contains("concord_schema") || names.contains("concord_relations") { return nil }
      if names.contains("Z_METADATA") { return "a Core Data file" }
      let some = names.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
      return "an SQLite file of another program, with \(some)\(names.count > 3 ? " and \(names.count - 3) more" : "")"
    }
  }

  extension DatabaseError {
    fileprivate var isDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }
  }
#endif
