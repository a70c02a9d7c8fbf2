#if PostgreSQL
  import Foundation

  /// A PostgreSQL server that lives as long as this object, with a role that has a password, and one without rights.
  final class DatabaseProcess {
    private let process = Process()
    private let input = Pipe()
    /// Its host and port.
    let place: String
    /// The address of the shop's database, for the role that owns it.
    var url: String { "postgresql://shop@\(place)/shop" }
    var port: Substring { place.split(separator: ":").last ?? "" }

    private static let scripts = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../../Scripts/lib").standardizedFileURL.path

    static let isInstalled: Bool = {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["python3", "-B", "-c", "import postgresql, sys; sys.exit(postgresql.binaries() is None)"]
      process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONPATH": scripts]) { $1 }
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }()

    /// - Returns: `nil` if the server has not started.
    init?(in folder: URL) throws {
      let roles = """
        CREATE ROLE guarded LOGIN PASSWORD 'right';
        GRANT CREATE ON DATABASE shop TO guarded;
        CREATE ROLE visitor LOGIN;
        SHOW hba_file \\gset
        COPY (VALUES ('host all guarded all scram-sha-256'), ('host all all all trust')) TO :'hba_file';
        SELECT pg_reload_conf();
        """
      let data = folder.appending(path: "database")
      let output = Pipe()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [
        "python3", "-B", "\(Self.scripts)/postgresql.py", data.path, "URL", "sh", "-ec",
        "printf '%s\\n' \"$1\" | psql -X -q -v ON_ERROR_STOP=1 -o /dev/null \"postgresql://owner@${URL#*@}\"; echo \"$URL\"; cat",
        "sh", roles,
      ]
      // The server runs as another user where the tests run as root.
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      var said = ""
      while !said.hasSuffix("\n") {
        let more = output.fileHandleForReading.availableData
        if more.isEmpty { return nil }
        said += String(decoding: more, as: UTF8.self)
      }
      guard let place = URLComponents(string: said.trimmingCharacters(in: .whitespacesAndNewlines)),
        let host = place.host, let port = place.port
      else { return nil }
      self.place = "\(host):\(port)"
    }

    func end() {
      try? input.fileHandleForWriting.close()
      process.waitUntilExit()
    }
  }
#endif
