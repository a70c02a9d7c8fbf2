#if Persistence
  import ConcordTestShared
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  /// In a process of its own, whose files cannot grow, or that may not write.
  @Suite("A disk without room, and one that is not to be written to")
  struct FullDiskTests {
    private func run(_ arguments: [String]) throws -> [String: String] {
      let child = try ChildProcess(arguments)
      child.waitUntilExit()
      var found: [String: String] = [:]
      for line in child.lines {
        let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        found[parts[0]] = parts.count > 1 ? parts[1] : ""
      }
      return found
    }

    @Test("Each operation is refused with a typed error, nothing is lost, and all goes on when there is room")
    func full() throws {
      try withFolder { folder in
        let said = try run(["full", folder.path, "1000"])
        for operation in ["save", "once more", "update", "delete", "flush"] {
          #expect(said[operation]?.hasPrefix("the store 'Process.sqlite' failed:") == true, "\(operation) \(said)")
        }
        for fact in ["kept", "whole", "seen", "saved", "deleted", "shown", "all"] {
          #expect(said[fact] == "true", "\(fact) \(said)")
        }
        #expect(said["told"]?.hasSuffix("true\"]") == true, "\(said)")
        #expect(said["done"] != nil)
        // What is there is there for another process, too.
        let model = try processModel()
        let store = try SQLiteStore(url: folder.appending(path: "Process.sqlite"), entities: model.entities)
        defer { try? store.close() }
        #expect(try store.pool.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
      }
    }

    @Test("A file, and a folder, that may not be written to is refused with a typed error")
    func fixed() throws {
      try withFolder { folder in
        let manager = FileManager.default
        let model = try processModel()
        let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Process", model: model)
        let store = try container.attachPersistentStore(at: folder)
        try container.detach(persistentStore: store)
        let file = folder.appending(path: "Process.sqlite").path
        let before = try Data(contentsOf: URL(filePath: file))
        try manager.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file)
        try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
        defer { try? manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
        let said = try run(["fixed", folder.path])
        #expect(said["attach"]?.hasPrefix("the store 'Process.sqlite' failed:") == true, "\(said)")
        #expect(said["new"]?.hasPrefix("the store 'Process.sqlite' failed:") == true, "\(said)")
        #expect(said["beside"] == "the store 'Other.sqlite' failed: the file cannot be made", "\(said)")
        #expect(said["done"] != nil)
        #expect(try Data(contentsOf: URL(filePath: file)) == before)
        #expect(try manager.contentsOfDirectory(atPath: folder.path) == ["Process.sqlite"])
      }
    }
  }
#endif
