#if os(Linux) || os(macOS)
  import Foundation
  import Testing

  /// What must not compile, and what the compiler says then. Runs `swiftc` against the module the tests were built with.
  @Suite("What does not compile")
  struct CompileFailureTests {
    private static let modules: URL? = {
      let executable = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
      let candidates = sequence(first: executable, next: { $0.path == "/" ? nil : $0.deletingLastPathComponent() })
      return candidates.prefix(8).map { $0.appendingPathComponent("Modules") }.first { folder in
        FileManager.default.fileExists(atPath: folder.appendingPathComponent("Concord.swiftmodule").path)
      }
    }()

    private static func compile(_ relation: String) throws -> (status: Int32, message: String) {
      let modules = try #require(Self.modules)
      let source = """
        import Concord
        struct Tag: Identifiable { let id: Int }
        enum Item: EntityWrapper {
          case none
          func wrappedEntitiesKeyPaths<Root>(
            relativeTo parent: WritableKeyPath<Root, Self>
          ) -> [PartialIdentifiableKeyPath<Root>] { [] }
        }
        struct Shelf: Aggregate {
          let id: Int
          let fixed: Tag
          let fixedList: [Tag]
          let fixedItem: Item
          var tag: Tag
          var item: Item
          var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [\(relation)] }
        }
        """
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("Shelf-\(UUID().uuidString).swift")
      try source.write(to: file, atomically: true, encoding: .utf8)
      defer { try? FileManager.default.removeItem(at: file) }
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["swiftc", "-typecheck", "-swift-version", "6", "-I", modules.path, file.path]
      let pipe = Pipe()
      process.standardOutput = pipe
      process.standardError = pipe
      try process.run()
      let output = pipe.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    @Test(
      "A read-only key path is refused, and the message says what to do",
      .enabled(if: Self.modules != nil, "no module folder beside the tests"),
      arguments: [".init(\\.fixed)", ".init(\\.fixedList)", ".init(wrapper: \\.fixedItem)"])
    func readOnly(relation: String) throws {
      let (status, message) = try Self.compile(relation)
      #expect(status != 0)
      #expect(message.contains("declare it with var"), "\(message)")
    }

    @Test(
      "The same with a writable key path compiles",
      .enabled(if: Self.modules != nil, "no module folder beside the tests"))
    func writable() throws {
      let (status, message) = try Self.compile(".init(\\.tag), .init(wrapper: \\.item)")
      #expect(status == 0, "\(message)")
    }
  }
#endif
