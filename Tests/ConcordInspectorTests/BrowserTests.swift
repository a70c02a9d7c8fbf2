#if Inspector
  import Concord
  import ConcordInspector
  import Foundation
  import Testing

  @Suite("The inspector in a browser", .serialized)
  struct BrowserTests {
    /// Runs a program of `Scripts/lib` with the page's address, where Python and Chromium are installed.
    ///
    /// - Returns: what it printed, and whether it succeeded; `nil` if they are not.
    private func drive(_ name: String, _ url: URL) async throws -> (text: String, isSuccess: Bool)? {
      // The folder of the tests may be a link.
      let tests = URL(filePath: #filePath).deletingLastPathComponent().resolvingSymlinksInPath()
      let script = tests.deletingLastPathComponent().deletingLastPathComponent().appending(path: "Scripts/lib/\(name)")
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["python3", "-B", script.path, "\(url)"]
      let output = Pipe()
      (process.standardOutput, process.standardError) = (output, output)
      try process.run()
      let data = await Task.detached { (try? output.fileHandleForReading.readToEnd()) ?? Data() }.value
      process.waitUntilExit()
      // 127: there is no Python; 3: there is no browser.
      if [3, 127].contains(process.terminationStatus) { return nil }
      return (String(decoding: data, as: UTF8.self), process.terminationStatus == 0)
    }

    @Test("Ten thousand entities are searched, opened and followed without waiting, while others write")
    func many() async throws {
      let store = EntityStore(delivery: .immediate)
      let many = store.store((0..<10_000).map { Book(id: $0, title: "Title \($0)", author: austen) })
      try await inspecting(store) { _, inspector in
        let writer = Task {
          for number in 0... {
            try await Task.sleep(for: .milliseconds(100))
            store.update(Book.self, id: 7_770) { $0.tags = ["written \(number)"] }
            store.update(Book.self, id: number % 10_000) { $0.tags = ["\(number)"] }
          }
        }
        defer { writer.cancel() }
        guard let (text, isSuccess) = try await drive("inspector_many.py", inspector.url) else { return }
        print(text)
        #expect(isSuccess, "\(text)")
      }
      withExtendedLifetime(many) {}
    }
  }
#endif
