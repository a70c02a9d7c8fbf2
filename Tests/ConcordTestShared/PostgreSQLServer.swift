#if PostgreSQL
  import Concord
  package import Foundation

  /// A PostgreSQL server in a temporary folder, on a free port of this machine.
  ///
  /// It is started as an unprivileged user where the tests run as root, which the server refuses, and has a role without special rights. It ends
  /// with the process that started it.
  package final class PostgreSQLServer: Sendable {
    package let folder: URL
    private let currentPort: Locked<Int>

    /// The name of the role that the stores use, and its password.
    package static let role = "shop"
    package static let password = "se:cr/et@1"

    private static let binaries: String? = {
      let folders =
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        + versions(in: "/usr/lib/postgresql") + versions(in: "/opt/homebrew/opt") + versions(in: "/usr/local/opt")
      return folders.first { folder in
        ["initdb", "pg_ctl", "psql"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
      }
    }()

    /// The folders of the programs of each version that a package manager has installed, the newest one first: as `Scripts/lib` finds them.
    private static func versions(in folder: String) -> [String] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return names.filter { folder.hasPrefix("/usr/lib") || $0.hasPrefix("postgresql@") }
        .sorted { $0.compare($1, options: .numeric) == .orderedDescending }
        .map { "\(folder)/\($0)/bin" }
    }

    /// Whether a server is installed.
    package static var isInstalled: Bool { binaries != nil }

    /// The server of this process's tests, which is started when it is first used. It does not wait for the disk.
    package static let shared: Swift.Result<PostgreSQLServer, any Error> = Swift.Result {
      try PostgreSQLServer(isFast: true)
    }

    package var port: Int { currentPort.withLock { $0 } }

    private init(in folder: URL) throws {
      currentPort = Locked(try Self.freePort())
      self.folder = folder
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Self.makePrivate(folder)
      try endWithProcess()
    }

    private static func newFolder() -> URL {
      FileManager.default.temporaryDirectory.appending(path: "pg-\(UUID().uuidString.prefix(8))")
    }

    /// A standby that follows another server.
    package convenience init(following primary: PostgreSQLServer) throws {
      try self.init(in: Self.newFolder())
      try run([
        "pg_basebackup", "-h", "127.0.0.1", "-p", "\(primary.port)", "-U", "owner", "-D", data, "-R", "-X", "stream",
        "-c",
        "fast",
      ])
      try append(["port = \(port)"])
      try start()
    }

    /// - Parameter isFast: whether the server leaves out what keeps data when the machine fails, and checks passwords in the old way: the
    ///   new one takes four times as long as the rest of connecting.
    package convenience init(isFast: Bool) throws {
      try self.init(in: Self.newFolder())
      let passwords = folder.appending(path: "password")
      try Self.password.write(to: passwords, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: passwords.path)
      try run([
        "initdb", "-D", data, "-U", "owner", "-E", "UTF8", "--locale=C", "-A", isFast ? "md5" : "scram-sha-256",
        "--pwfile=\(passwords.path)", "-N",
      ])
      var settings = [
        "listen_addresses = '127.0.0.1'", "port = \(port)", "unix_socket_directories = ''", "max_connections = 200",
        "logging_collector = off", "max_wal_senders = 4", "wal_level = replica",
      ]
      if isFast { settings += ["fsync = off", "full_page_writes = off", "synchronous_commit = off"] }
      try append(settings)
      try start()
      try sql(
        "CREATE ROLE \(Self.role) LOGIN PASSWORD '\(Self.password)' NOSUPERUSER NOCREATEDB NOCREATEROLE; "
          + "CREATE DATABASE shop OWNER \(Self.role)", database: "postgres")
    }

    private func append(_ settings: [String]) throws {
      let file = try FileHandle(forWritingTo: URL(filePath: "\(data)/postgresql.conf"))
      try file.seekToEnd()
      try file.write(contentsOf: Data("\n\(settings.joined(separator: "\n"))\n".utf8))
      try file.close()
    }

    private var data: String { folder.appending(path: "data").path }

    /// What a store connects with.
    package var url: String { url(port: port) }

    package func url(port: Int) -> String { url(ports: [port]) }

    /// Of several places the first one is used that is there.
    package func url(ports: [Int], role: String = role) -> String {
      let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
      return
        "postgresql://\(role):se%3Acr%2Fet%401@\(hosts)/shop\(ports.count > 1 ? "?target_session_attrs=read-write" : "")"
    }

    // MARK: Starting and stopping

    package func start() throws {
      try run(["pg_ctl", "-D", data, "-l", "\(folder.path)/log", "-w", "-t", "60", "start"])
    }

    /// - Parameter mode: `fast`, or `immediate` for a crash.
    package func stop(_ mode: String = "fast") throws {
      try run(["pg_ctl", "-D", data, "-w", "-m", mode, "stop"])
    }

    package func restart(_ mode: String = "fast") throws {
      try stop(mode)
      try start()
    }

    /// Stops as in a crash, and goes on at another port.
    package func move(to port: Int) throws {
      try stop("immediate")
      try append(["port = \(port)"])
      currentPort.withLock { $0 = port }
      try start()
    }

    /// Makes a standby the server that is written to.
    package func promote() throws { try run(["pg_ctl", "-D", data, "-w", "-t", "60", "promote"]) }

    /// Copies the database, or one schema of it, into a file.
    package func dump(to file: URL, schema: String? = nil, _ options: [String] = []) throws {
      let arguments =
        ["-h", "127.0.0.1", "-p", "\(port)", "-U", "owner"] + (schema.map { ["--schema=\"\($0)\""] } ?? [])
      let dump = try run(["pg_dump"] + arguments + options + ["--no-owner", "-d", "shop"])
      try Data(dump.utf8).write(to: file)
    }

    /// Fills the database from a file.
    package func restore(_ file: URL) throws {
      try run(
        [
          "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", "\(port)", "-U", Self.role, "-d",
          "shop",
        ],
        input: String(contentsOf: file, encoding: .utf8))
    }

    /// `kill -STOP` of all its processes, and `kill -CONT`.
    package func pause() { signal(SIGSTOP) }
    package func goOn() { signal(SIGCONT) }

    private func signal(_ number: Int32) {
      guard let first = processID else { return }
      kill(first, number)
      for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
        guard let id = pid_t(name), let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
          let words = status.split(separator: ")").last?.split(separator: " "), words.count > 1, words[1] == "\(first)"
        else { continue }
        kill(id, number)
      }
    }

    /// The number of the server's first process.
    package var processID: Int32? {
      (try? String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8))?.split(separator: "\n").first
        .flatMap { Int32($0) }
    }

    /// Runs SQL as the owner of the server, with `psql`.
    @discardableResult
    package func sql(_ sql: String, database: String = "shop", role: String = "owner") throws -> String {
      let user = role == "owner" ? "owner" : role
      return try run(
        [
          "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", "\(port)", "-U", user, "-d",
          database,
        ], input: sql)
    }

    /// The server's user cannot read folders of root's.
    private static func makePrivate(_ folder: URL) throws {
      guard getuid() == 0 else { return }
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
      guard let user = getpwnam("postgres") ?? getpwnam("nobody") else { return }
      chown(folder.path, user.pointee.pw_uid, user.pointee.pw_gid)
      for parent in sequence(first: folder.deletingLastPathComponent(), next: { $0.deletingLastPathComponent() }) {
        if parent.path == "/" { break }
        var status = stat()
        if stat(parent.path, &status) == 0, status.st_mode & 0o001 == 0 { chmod(parent.path, status.st_mode | 0o011) }
      }
    }

    /// Lets nobody but the server's user read a file.
    package func makeSecret(_ file: URL) throws {
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      if getuid() == 0, let user = getpwnam("postgres") ?? getpwnam("nobody") {
        chown(file.path, user.pointee.pw_uid, user.pointee.pw_gid)
      }
    }

    private static let user: String? = getuid() == 0 ? (getpwnam("postgres") != nil ? "postgres" : "nobody") : nil

    @discardableResult
    private func run(_ command: [String], input: String? = nil) throws -> String {
      guard let binaries = Self.binaries else { throw Failure(description: "PostgreSQL is not installed") }
      let prefix = Self.user.map { ["/usr/sbin/runuser", "-u", $0, "--"] } ?? []
      // Files, since the server that is started would hold pipes open.
      let output = folder.appending(path: "out-\(UUID().uuidString)")
      let given = folder.appending(path: "in-\(UUID().uuidString)")
      try Data((input ?? "").utf8).write(to: given)
      defer { for file in [output, given] { try? FileManager.default.removeItem(at: file) } }
      let words = (prefix + ["\(binaries)/\(command[0])"] + command.dropFirst()).map(Self.quoted)
      let script = """
        cd \(Self.quoted(folder.path)) && export PGPASSWORD=\(Self.quoted(Self.password)) LC_ALL=C && exec \
        \(words.joined(separator: " ")) <\(Self.quoted(given.path)) >\(Self.quoted(output.path)) 2>&1
        """
      var status: Int32 = 0
      let child = try Self.spawn(script)
      while waitpid(child, &status, 0) < 0, errno == EINTR {}
      let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
      guard status == 0 else {
        throw Failure(description: "\(command[0]) has failed: \(text)")
      }
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    package struct Failure: Error, CustomStringConvertible {
      package let description: String
      package init(description: String) { self.description = description }
    }

    package static func freePort() throws -> Int {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
        }
      }
      guard result else { throw Failure(description: "there is no free port") }
      return Int(UInt16(bigEndian: address.sin_port))
    }

    /// A guard beside this process stops the server when it is gone, however it ends.
    ///
    /// It is there before the server is. What ends this process by its group, as Control-C does, does not end the guard.
    private func endWithProcess() throws {
      let file = Self.quoted("\(data)/postmaster.pid")
      try Self.spawn(
        """
        trap '' HUP INT TERM
        exec </dev/null >/dev/null 2>&1
        while kill -0 \(getpid()); do sleep 1; done
        for again in 1 2 3; do if [ -e \(file) ]; then kill -QUIT $(head -1 \(file)); fi; sleep 1; done
        rm -rf \(Self.quoted(folder.path))
        """, isApart: true)
    }

    private static func quoted(_ word: String) -> String { "'\(word.replacing("'", with: "'\\''"))'" }

    /// Foundation's `Process` would wait for the server that the child has started.
    ///
    /// - Parameter isApart: whether it gets a group of its own.
    @discardableResult
    private static func spawn(_ script: String, isApart: Bool = false) throws -> pid_t {
      var child: pid_t = 0
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      if isApart { posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP)) }
      let words: [UnsafeMutablePointer<CChar>?] =
        ["/bin/sh", "-c", script].map { (word: String) in strdup(word) } + [nil]
      defer { for word in words { free(word) } }
      guard posix_spawn(&child, "/bin/sh", nil, &attributes, words, environ) == 0 else {
        throw Failure(description: "/bin/sh cannot be started")
      }
      return child
    }
  }
#endif
