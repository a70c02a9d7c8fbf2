// Where the programs of a test can be found, and the compiler is at hand.
#if os(Linux)
  import Foundation
  import Testing

  @Suite("The compiler refuses what would be a race")
  struct RefusalTests {
    @Test("An owner that is not Sendable, registered from anywhere")
    func owner() throws {
      let owner = "class Screen: ConsistentEnvironment {" + owned + "}\n"
      try expect("does not conform to the 'Sendable' protocol", in: owner + "func f() { manager.register(Screen()) }")
      try expect(
        "does not conform to the 'Sendable' protocol",
        in: owner + "func f(queue: DispatchQueue) { manager.register(Screen(), on: queue) }")
      try expect(nil, in: owner + "actor Home { let s = Screen(); func f() { manager.register(s, isolatedTo: self) } }")
      try expect(nil, in: owner + "@MainActor func f() { manager.register(Screen(), isolatedTo: MainActor.shared) }")
    }

    @Test("An owner that an actor has, used elsewhere")
    func escapingOwner() throws {
      try expect(
        "risks causing data races",
        in: "class Screen: ConsistentEnvironment {" + owned
          + """
          }
          actor Home {
            func f() {
              let screen = Screen()
              manager.register(screen, isolatedTo: self)
              Task.detached { print(screen.objects) }
            }
          }
          """)
    }

    @Test("A screen of the main actor, registered elsewhere")
    func screen() throws {
      let screen = "@MainActor final class Screen: @MainActor ConsistentEnvironment {" + owned + "}\n"
      try expect("main actor-isolated conformance", in: screen + "func f(s: Screen) { manager.register(s) }")
      try expect(nil, in: screen + "@MainActor func f(s: Screen) { manager.register(s) }")
    }

    @Test("A completion on the main actor that touches what is elsewhere")
    func completion() throws {
      let update = "func merge(_ o: any ConsistentObject) { user.updated(with: o, in: self) { self.user = $0 } }"
      let members = "var user = User(id: \"1\");" + owned + update
      try expect("risks causing data races", in: "final class Screen: ConsistentEnvironment {" + members + "}\n")
      try expect(nil, in: "@MainActor final class Screen: @MainActor ConsistentEnvironment {" + members + "}\n")
    }

    @Test("A model that can change, or belongs to the main actor")
    func model() throws {
      let members = """
        var id = ""
        var properties: [Property] { [] }
        func setting(property: Property) -> Model { self }

        """
      let model = "Model: ConsistentObject {" + members + "}\n"
      try expect("'Sendable'-conforming class 'Model' is mutable", in: "final class " + model)
      try expect("crosses into main actor-isolated code", in: "@MainActor struct " + model)
      // In the Swift 5 language mode it is a warning.
      let warning = "stored property 'id' of 'Sendable'-conforming class 'Model' is mutable"
      try expect(warning, in: "final class " + model, "-swift-version", "5", isError: false)
      // Where the main actor is the default, a model does not belong to it.
      let used = "nonisolated func f(_ model: Model) -> Model { model.updated(with: model) }"
      try expect(nil, in: "struct " + model + used, "-default-isolation", "MainActor")
    }

    private let owned = """
      var objects: [any ConsistentObject] { [] }
      func update(with object: any ConsistentObject) {}

      """

    private let preamble = """
      import ConcordConsistency
      import Dispatch
      struct User: ConsistentObject {
        let id: String
        var properties: [Property] { [] }
        func setting(property: Property) -> User { self }
      }
      nonisolated let manager = ConsistencyManager()

      """

    /// Compiles a program, and expects an error that contains `message`, or none at all.
    private func expect(
      _ message: String?, in program: String, _ options: String..., isError: Bool = true
    ) throws {
      let file = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("\(UUID().uuidString).swift")
      try (preamble + program).write(to: file, atomically: true, encoding: .utf8)
      // Not /dev/null, which the compiler would make read-only for others.
      let compiled = file.appendingPathExtension("sil")
      defer { for file in [file, compiled] { try? FileManager.default.removeItem(at: file) } }
      let modules = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("Modules")
      let compiler = Process()
      compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      compiler.arguments =
        ["swiftc", "-swift-version", "6", "-parse-as-library", "-emit-sil", "-o", compiled.path, "-I", modules.path]
        + options + [file.path]
      let output = Pipe()
      compiler.standardError = output
      compiler.standardOutput = FileHandle.nullDevice
      try compiler.run()
      let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      compiler.waitUntilExit()
      if let message {
        #expect((compiler.terminationStatus != 0) == isError, "\(said)")
        #expect(said.contains(message), "\(said)")
      } else {
        #expect(compiler.terminationStatus == 0, "\(said)")
      }
    }
  }
#endif
