#if os(Linux) || os(macOS)
  import Testing

  /// What must not compile, and what the compiler says then. Runs `swiftc`.
  @Suite("What does not compile")
  struct CompileFailureTests {
    private static func compile(_ relation: String) throws -> (status: Int32, message: String) {
      try SwiftCompiler.check(
        """
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
        """)
    }

    @Test(
      "A read-only key path is refused, and the message says what to do",
      .enabled(if: SwiftCompiler.modules != nil, "no module folder beside the tests"),
      arguments: [".init(\\.fixed)", ".init(\\.fixedList)", ".init(wrapper: \\.fixedItem)"])
    func readOnly(relation: String) throws {
      let (status, message) = try Self.compile(relation)
      #expect(status != 0)
      #expect(message.contains("declare it with var"), "\(message)")
    }

    @Test(
      "The same with a writable key path compiles",
      .enabled(if: SwiftCompiler.modules != nil, "no module folder beside the tests"))
    func writable() throws {
      let (status, message) = try Self.compile(".init(\\.tag), .init(wrapper: \\.item)")
      #expect(status == 0, "\(message)")
    }
  }
#endif
