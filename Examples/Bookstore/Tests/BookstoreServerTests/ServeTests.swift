import ConcordSync
import Foundation
import Testing

@Suite("serve")
struct ServeTests {
  @Test("It says where it listens, and ends well when it is interrupted or terminated", arguments: [SIGINT, SIGTERM])
  func ending(number: Int32) async throws {
    try await withServer { server in
      let answer = try await server.transport.send("GET", "/")
      #expect(answer.status == 200)
      #expect(server.running.end(number) == 0)
      #expect(server.running.lines() == [])
      #expect(server.running.complaints == "")
    }
  }

  @Test("A port that is taken is named, and ends it with 69")
  func portTaken() async throws {
    try await withServer { server in
      let port = try #require(server.url.port)
      let other = server.folder.appendingPathComponent("other").path
      let second = try Running(["serve", "--port", "\(port)", "--store", other], in: server.folder)
      #expect(second.status() == 69)
      #expect(second.complaints == "bookstore: another program listens on port \(port)\n")
    }
  }

  @Test("A folder in which another server works is named, and ends it with 73")
  func folderTaken() async throws {
    try await withServer { server in
      let data = server.folder.appendingPathComponent("server").path
      let second = try Running(["serve", "--port", "0", "--store", data], in: server.folder)
      #expect(second.status() == 73)
      #expect(second.complaints == "bookstore: another server works in \(data)\n")
    }
  }

  @Test("What is no folder, and what is no file of a server, is told with the reason, and ends it with 73")
  func noFolder() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("server.sqlite")
      try Data(repeating: 7, count: 8192).write(to: file)
      for (data, reason) in [(file.path, "File exists"), (folder.path, "file is not a database")] {
        let running = try Running(["serve", "--port", "0", "--store", data], in: folder)
        #expect(running.status() == 73)
        #expect(running.complaints.hasPrefix("bookstore: \(data)"), "\(running.complaints)")
        #expect(running.complaints.contains(reason), "\(running.complaints)")
      }
      #expect(try Data(contentsOf: file) == Data(repeating: 7, count: 8192))
    }
  }

  @Test("Wrong usage ends each command with 64, and each has a help")
  func usage() async throws {
    try await withFolder { folder in
      let wrong = [
        ["serve", "--port", "65536"], ["serve", "--store", ""], ["page", "--server", "nowhere"],
        ["work", "--server", "http://127.0.0.1:1"], ["work", "--server", "nowhere", "--store", folder.path],
        ["work", "--server", "http://127.0.0.1:1", "--store", folder.path, "--actions", "-1"],
        ["work", "--server", "http://127.0.0.1:1", "--store", folder.path, "--books", "0"],
        ["device", "--server", "http://127.0.0.1:1", "--store", folder.path],
        ["device", "--server", "http://127.0.0.1:1", "--store", folder.path, "--user", "a b"],
        ["page", "--user", ""], ["serve", "--history", ""],
      ]
      for arguments in wrong { #expect(try Running(arguments, in: folder).status() == 64, "\(arguments)") }
      for (command, words) in [
        ("serve", ["sync", "--history", "--store", "69"]), ("page", ["--headless", "--offline", "--store"]),
        ("work", ["queued KEY BOOK", "--actions", "--seed"]), ("device", ["FNV-1a", "--states", "--user"]),
      ] {
        let help = try Running([command, "--help"], in: folder).lines().joined(separator: "\n")
        for word in words { #expect(help.contains(word), "\(command): \(word)") }
      }
    }
  }
}
