#if PostgreSQL
  import CPostgreSQL
  import Foundation

  /// The opening of a connection, with the options of libpq.
  extension PostgreSQLConnection {
    /// Whether a server accepts connections at this moment, whoever asks. It is not asked for the database.
    ///
    /// - Parameter connection: one whose server is asked; `nil` to ask all of the options.
    static func isAccepted(_ options: PostgreSQLOptions, serverOf connection: OpaquePointer? = nil) -> Bool {
      func text(_ value: UnsafeMutablePointer<CChar>?) -> String { value.map { String(cString: $0) } ?? "" }
      // One that is empty counts for libpq as one that is not there.
      let server = connection.map {
        [("host", text(PQhost($0))), ("hostaddr", text(PQhostaddr($0))), ("port", text(PQport($0)))]
      }
      let answer = try? withParameters(options, server ?? []) { PQpingParams($0, $1, 1) }
      return answer != PQPING_REJECT && answer != PQPING_NO_RESPONSE
    }

    /// Passes the parameters of a connection to a function of libpq.
    ///
    /// - Parameter others: further parameters, which count in place of those of the options.
    static func withParameters<R>(
      _ options: PostgreSQLOptions, _ others: [(String, String)] = [],
      _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) throws -> R {
      var parts: [(String, String)] = [
        ("dbname", options.connection), ("fallback_application_name", "concord"), ("client_encoding", "UTF8"),
      ]
      let given = try given(options.connection)
      if !given.contains("connect_timeout"), ProcessInfo.processInfo.environment["PGCONNECT_TIMEOUT"] == nil {
        parts.append(("connect_timeout", "\(max(2, Int(options.timeout.rounded(.up))))"))
      }
      // A machine that the network has cut off learns of it, although it has nothing to ask: what it holds, other machines may have then.
      let keepalives = [("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3")]
      parts += keepalives.filter { !given.contains($0.0) }
      if !given.contains("tcp_user_timeout") { parts.append(("tcp_user_timeout", "\(Int(options.timeout * 1000))")) }
      parts += others
      let result = ProcessEnd.notDuring {
        withCStrings(parts.map(\.0)) { names in withCStrings(parts.map(\.1)) { values in body(names, values) } }
      }
      ProcessEnd.librariesAreLoaded()
      return result
    }

    /// Returns the keywords that a connection string gives.
    private static func given(_ connection: String) throws -> Set<String> {
      guard connection.contains("=") || connection.contains("://") else { return [] }
      guard let options = PQconninfoParse(connection, nil) else {
        // What libpq says may repeat a part of it, such as the password.
        throw PostgreSQLFailure(
          code: "", message: "the connection string cannot be read", isUnreachable: true, isConnectionLost: true)
      }
      defer { PQconninfoFree(options) }
      var found: Set<String> = []
      var option = options
      while let name = option.pointee.keyword {
        if let value = option.pointee.val {
          found.insert(String(cString: name))
          // libpq would take the rest of the password for a host, and tell it in an error.
          if strcmp(name, "host") == 0, strchr(value, Int32(UInt8(ascii: "@"))) != nil {
            throw PostgreSQLFailure(
              code: "", message: "an @ in the name or the password of a connection string is written as %40",
              isUnreachable: true, isConnectionLost: true)
          }
        }
        option += 1
      }
      return found
    }

    /// The host and the port that it is connected to, for people.
    static func place(of connection: OpaquePointer) -> String {
      func text(_ value: UnsafeMutablePointer<CChar>?) -> String { value.map { String(cString: $0) } ?? "" }
      let (host, port) = (text(PQhost(connection)), text(PQport(connection)))
      return "\(host.isEmpty ? "localhost" : host):\(port.isEmpty ? "5432" : port)"
    }

    private static func withCStrings<R>(
      _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) -> R {
      let copies = strings.map { strdup($0) }
      defer { for copy in copies { free(copy) } }
      let pointers = copies.map { UnsafePointer($0) } + [nil]
      return pointers.withUnsafeBufferPointer { pointers in
        // It is never empty, since a `nil` ends it.
        pointers.baseAddress.map(body) ?? withUnsafePointer(to: nil) { body($0) }
      }
    }
  }
#endif
