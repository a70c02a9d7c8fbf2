#if Server && os(Linux)
  import Foundation
  import Testing

  /// Faults of the database of the tests.
  enum DatabaseFault {
    /// Kills a process of the database, which recovers from that as from a crash.
    static func killBackend() throws {
      try prepare()
      // There may be none at the moment.
      for _ in 0..<200 {
        let pid = try administer("SELECT pid FROM pg_stat_activity WHERE usename = 'shop' ORDER BY random() LIMIT 1")
        if let pid = Int32(pid), kill(pid, SIGKILL) == 0 { return }
        usleep(10_000)
      }
      Issue.record("no process of the database was killed")
    }

    /// Ends the database as a crash of the machine does, and starts it again.
    static func restart() throws {
      try prepare()
      let started = "SELECT pg_postmaster_start_time()"
      var before = ""
      // It may recover from a crash.
      for _ in 0..<500 where before.isEmpty {
        before = try administer(started)
        if before.isEmpty { usleep(20_000) }
      }
      let folder = try administer("SHOW data_directory")
      let user = try FileManager.default.attributesOfItem(atPath: folder)[.ownerAccountName] as? String
      let log = URL(filePath: folder).deletingLastPathComponent().appending(path: "log").path
      let command = ["pg_ctl", "-D", folder, "-l", log, "-w", "-m", "immediate", "restart"]
      // The server refuses to run as root. Its settings are those of its last start.
      let other = getuid() == 0 ? ["runuser", "-u", try #require(user), "--"] : []
      // Foundation waits for a process until nobody has a file that it opened for it, and a server inherits that.
      let closing = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
      try run(["python3", "-c", closing] + other + command, in: folder)
      #expect(try !before.isEmpty && administer(started) > before)
    }

    /// A process that ends loses nothing that is written, so the disk need not be waited for at the recovery.
    private static func prepare() throws {
      try administer("ALTER SYSTEM SET fsync = off")
      try administer("SELECT pg_reload_conf()")
    }

    /// Runs a statement as the owner of the database, or as the user of the tests.
    @discardableResult
    static func administer(_ sql: String, asOwner: Bool = true) throws -> String {
      let url = Kind.database ?? ""
      return try run(["psql", "-X", "-A", "-t", asOwner ? url.replacing("shop@", with: "owner@") : url, "-c", sql])
    }

    @discardableResult
    private static func run(_ command: [String], in folder: String = "/") throws -> String {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.currentDirectoryURL = URL(filePath: folder)
      process.arguments = command
      let output = FileManager.default.temporaryDirectory.appending(path: "concord-fault-\(UUID().uuidString)")
      try Data().write(to: output)
      defer { try? FileManager.default.removeItem(at: output) }
      // A file, since a server that is started would hold a pipe open.
      (process.standardInput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
      process.standardOutput = try FileHandle(forWritingTo: output)
      try process.run()
      process.waitUntilExit()
      return try String(contentsOf: output, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }
#endif
