#if Persistence
  import ConcordPersistence
  import Foundation
  import Testing

  private struct Lower: PersistentEntity, Equatable {
    static let entityName = "Note"
    let id: Int
    var title: String
    var text: String?

    static let persistentProperties: [PersistentProperty<Lower>] = [
      .init("id", \.id), .init("title", \.title), .init("text", \.text),
    ]
    init(id: Int, title: String, text: String?) { (self.id, self.title, self.text) = (id, title, text) }
    init(from row: inout RowReader) throws { (id, title, text) = (try row.read(), try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(text)
    }
  }

  private struct Upper: PersistentEntity, Equatable {
    static let entityName = "Note"
    let id: Int
    var Title: String
    var Text: String?

    static let persistentProperties: [PersistentProperty<Upper>] = [
      .init("id", \.id), .init("Title", \.Title), .init("Text", \.Text),
    ]
    init(id: Int, Title: String, Text: String?) { (self.id, self.Title, self.Text) = (id, Title, Text) }
    init(from row: inout RowReader) throws { (id, Title, Text) = (try row.read(), try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(Title)
      try row.write(Text)
    }
  }

  @Suite("Names of files and columns that lead to one another")
  struct FileNamesTests {
    private func attach(_ type: any PersistentEntity.Type, in folder: URL) throws -> any PersistentContainer {
      let container = GenericPersistentContainer<ContextStrategy.Direct>(
        name: "Notes", model: try Model("Notes", entities: [type]))
      try container.attachPersistentStore(at: folder)
      return container
    }

    private func note(_ id: Int, in container: any PersistentContainer) throws {
      let context = container.newBackgroundContext()
      context.insert(Lower(id: id, title: "a", text: "b"))
      try context.save()
    }

    private func detach(_ container: any PersistentContainer) throws {
      try container.detach(persistentStores: container.persistentStores)
    }

    @Test("A property whose name differs in upper and lower case alone keeps its values")
    func upperCase() throws {
      try withFolder { folder in
        let old = try attach(Lower.self, in: folder)
        try note(1, in: old)
        try detach(old)
        let new = try attach(Upper.self, in: folder)
        #expect(try new.newBackgroundContext().fetch(FetchDescriptor<Upper>()) == [Upper(id: 1, Title: "a", Text: "b")])
        try detach(new)
      }
    }

    @Test(
      "A file with a second name, by a hard link, is refused by both, and whoever has it open keeps all that is saved")
    func hardLinks() throws {
      try withFolder { folder in
        let (a, b) = (folder.appending(path: "a"), folder.appending(path: "b"))
        let first = try attach(Lower.self, in: a)
        try note(1, in: first)
        try FileManager.default.createDirectory(at: b, withIntermediateDirectories: true)
        let other = b.appending(path: "Notes.sqlite")
        try FileManager.default.linkItem(at: a.appending(path: "Notes.sqlite"), to: other)
        let refusal =
          "the store 'Notes.sqlite' failed: the file has another name, by a hard link; copy it, or remove one of the names"
        #expect(reason { _ = try attach(Lower.self, in: b) } == refusal)
        try note(2, in: first)
        try detach(first)
        #expect(reason { _ = try attach(Lower.self, in: a) } == refusal)
        try FileManager.default.removeItem(at: other)
        let again = try attach(Lower.self, in: a)
        #expect(try again.newBackgroundContext().fetch(FetchDescriptor<Lower>()).map(\.id) == [1, 2])
        try detach(again)
      }
    }

    @Test("A symbolic link, and a path that leads through one and back, lead to the same file")
    func symbolicLinks() throws {
      try withFolder { folder in
        let manager = FileManager.default
        let deep = folder.appending(path: "notes/deep")
        try manager.createDirectory(at: deep, withIntermediateDirectories: true)
        let elsewhere = folder.appending(path: "elsewhere")
        try manager.createDirectory(at: elsewhere, withIntermediateDirectories: true)
        try manager.createSymbolicLink(at: elsewhere.appending(path: "link"), withDestinationURL: deep)
        let back = URL(fileURLWithPath: elsewhere.path + "/link/..")
        let container = try attach(Lower.self, in: back)
        try note(1, in: container)
        let refusal = "the store 'Notes.sqlite' is attached already"
        #expect(reason { try container.attachPersistentStore(at: folder.appending(path: "notes")) } == refusal)
        try container.attachPersistentStore(at: elsewhere)
        try detach(container)
        let direct = try attach(Lower.self, in: folder.appending(path: "notes"))
        #expect(try direct.newBackgroundContext().fetch(FetchDescriptor<Lower>()).map(\.id) == [1])
        try detach(direct)
      }
    }

    @Test("A container without a name needs the name of a file, and makes none without it")
    func withoutName() throws {
      try withFolder { folder in
        let container = GenericPersistentContainer<ContextStrategy.Direct>(
          name: "", model: try Model("Notes", entities: [Lower.self]))
        #expect(
          reason { try container.attachPersistentStore(at: folder) }
            == "the store '.sqlite' failed: the container has no name, with which the name of its file begins; give it one, or use a fileName"
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        try container.attachPersistentStore(at: folder, for: StoreConfiguration(fileName: "notes.db"))
        try note(1, in: container)
        #expect(try container.newBackgroundContext().count(FetchDescriptor<Lower>()) == 1)
        try detach(container)
        try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: .inMemory))
        try detach(container)
      }
    }

    @Test("A configuration with an empty name is none, and has the same file")
    func emptyConfiguration() throws {
      try withFolder { folder in
        let container = try attach(Lower.self, in: folder)
        try note(1, in: container)
        #expect(
          reason { try container.attachPersistentStore(at: folder, for: StoreConfiguration(name: "")) }
            == "the store 'Notes.sqlite' is attached already")
        try detach(container)
        try container.attachPersistentStore(at: folder, for: StoreConfiguration(name: ""))
        #expect(try container.newBackgroundContext().count(FetchDescriptor<Lower>()) == 1)
        try detach(container)
      }
    }

    @Test("Of two stores whose configurations have a type, the one that was attached first keeps it")
    func typeInTwoConfigurations() throws {
      try withFolder { folder in
        let container = GenericPersistentContainer<ContextStrategy.Direct>(
          name: "Notes",
          model: try Model("Notes", entities: [], configurations: ["A": [Lower.self], "B": [Lower.self]]))
        let stores = try container.attachPersistentStores(
          at: folder, for: [StoreConfiguration(name: "A"), StoreConfiguration(name: "B")])
        try note(1, in: container)
        func count() throws -> Int { try container.newBackgroundContext().count(FetchDescriptor<Lower>()) }
        #expect(try count() == 1)
        try container.detach(persistentStore: stores[0])
        #expect(try count() == 0)
        try note(2, in: container)
        try note(3, in: container)
        #expect(try count() == 2)
        try container.attachPersistentStore(at: folder, for: StoreConfiguration(name: "A"))
        #expect(try count() == 2)
        try detach(container)
      }
    }

    @Test("A name that leads out of the folder, or that no file has, is refused, and no file is made")
    func namesOutside() throws {
      try withFolder { folder in
        let inner = folder.appending(path: "user")
        let model = try Model("Notes", entities: [Lower.self])
        typealias Container = GenericPersistentContainer<ContextStrategy.Direct>
        func expect(_ container: Container, _ fileName: String?) {
          let text = reason {
            try container.attachPersistentStore(at: inner, for: StoreConfiguration(fileName: fileName))
          }
          let isRefused = text?.contains("this is no name of a file in its folder") == true
          #expect(isRefused, "\(fileName ?? "nil"): \(text ?? "")")
          #expect(container.persistentStores.isEmpty)
        }
        let container = Container(name: "Notes", model: model)
        for name in ["../other.sqlite", "a/../../other.sqlite", "..", ".", "", "/", "/tmp/other.sqlite", "a/", "a\0b"] {
          expect(container, name)
        }
        for name in ["../Notes", "a/../../Notes", "a\0b"] { expect(Container(name: name, model: model), nil) }
        // An accent, a joiner, a variation, a frame and a tone of skin make one character of what precedes them.
        for scalar in ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{20DD}", "\u{1F3FB}"] {
          for name in [
            "../\(scalar)other", "a/\(scalar)/../../../other", "..\(scalar)/../../\(scalar)", "a\0\(scalar)",
          ] {
            expect(container, name)
            expect(Container(name: name, model: model), nil)
          }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        try container.attachPersistentStore(at: inner, for: StoreConfiguration(fileName: "deep/..notes...sqlite"))
        #expect(FileManager.default.fileExists(atPath: inner.appending(path: "deep/..notes...sqlite").path))
        try detach(container)
        // It leads into a folder, and not out of one.
        try container.attachPersistentStore(at: inner, for: StoreConfiguration(fileName: "deep/\u{301}notes.sqlite"))
        try detach(container)
        #expect(try names(in: folder) == ["user"] && names(in: inner) == ["deep"])
      }
    }

    private func names(in folder: URL) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("A name that is too long for a file, or for those beside it, is refused, and no file is made")
    func longNames() throws {
      try withFolder { folder in
        let model = try Model("Notes", entities: [Lower.self])
        func container(_ name: String) -> any PersistentContainer {
          GenericPersistentContainer<ContextStrategy.Direct>(name: name, model: model)
        }
        func attach(_ name: String, _ fileName: String?) throws {
          let container = container(name)
          try container.attachPersistentStore(at: folder, for: StoreConfiguration(fileName: fileName))
          try note(1, in: container)
          try detach(container)
        }
        let e = "\u{E9}"
        let refused: [(name: String, fileName: String?)] = [
          (String(repeating: "n", count: 241), nil), (String(repeating: e, count: 121), nil),
          ("Notes", String(repeating: "n", count: 248)), ("Notes", String(repeating: "n", count: 5_000)),
          ("Notes", String(repeating: "n", count: 256) + "/notes"),
        ]
        for (name, fileName) in refused {
          let text = reason { try attach(name, fileName) }
          #expect(
            text?.hasSuffix("no file can have so long a name; use one of at most 247 bytes") ?? false, "\(text ?? "")")
        }
        #expect(try names(in: folder) == [])
        let long = String(repeating: "n", count: 240)
        try attach(long, nil)
        try attach("Notes", long + ".sqlite")
        try attach("Notes", "a" + String(repeating: e, count: 123))
        #expect(try names(in: folder).filter { !$0.hasSuffix("-outbox") }.count == 2)
      }
    }

    @Test("Two spellings of a name, with composed and with separate accents, are one file")
    func spellings() throws {
      try withFolder { folder in
        let (composed, separate) = ("Caf\u{E9}", "Cafe\u{301}")
        let model = try Model("Notes", entities: [], configurations: [composed: [Lower.self]])
        func container(_ name: String) -> any PersistentContainer {
          GenericPersistentContainer<ContextStrategy.Direct>(name: name, model: model)
        }
        func isComposed(_ text: String?) -> Bool {
          text.map { $0.utf8.elementsEqual($0.precomposedStringWithCanonicalMapping.utf8) } ?? false
        }
        var count = 0
        for name in [separate, composed] {
          for configuration in [separate, composed] {
            let container = container(name)
            let store = try container.attachPersistentStore(at: folder, for: StoreConfiguration(name: configuration))
            #expect(isComposed(store.url?.lastPathComponent))
            for other in [separate, composed] {
              let text = reason {
                try container.attachPersistentStore(at: folder, for: StoreConfiguration(name: other))
              }
              #expect(text == "the store '\(composed).caf\u{E9}.sqlite' is attached already")
            }
            count += 1
            try note(count, in: container)
            #expect(try container.newBackgroundContext().count(FetchDescriptor<Lower>()) == count)
            try detach(container)
          }
        }
        #expect(try names(in: folder) == ["\(composed).caf\u{E9}.sqlite"])
      }
    }

    @Test("A file that an earlier version has made with separate accents is taken, as long as there is no composed one")
    func earlierSpelling() throws {
      try withFolder { folder in
        let (composed, separate) = ("Caf\u{E9}", "Cafe\u{301}")
        let model = try Model("Notes", entities: [Lower.self])
        func container(_ name: String) -> any PersistentContainer {
          GenericPersistentContainer<ContextStrategy.Direct>(name: name, model: model)
        }
        func ids(_ name: String) throws -> [Int] {
          let container = container(name)
          try container.attachPersistentStore(at: folder)
          defer { try? detach(container) }
          return try container.newBackgroundContext().fetch(FetchDescriptor<Lower>()).map(\.id)
        }
        let earlier = container("Any")
        try earlier.attachPersistentStore(at: folder, for: StoreConfiguration(fileName: separate + ".sqlite"))
        try note(1, in: earlier)
        try detach(earlier)
        #expect(try ids(separate) == [1])
        #expect(try names(in: folder).count == 1)
        // A path is taken as it is given.
        try earlier.attachPersistentStore(at: folder, for: StoreConfiguration(fileName: separate + ".sqlite"))
        let refusal = "the store '\(composed).sqlite' is attached already"
        #expect(
          reason {
            try earlier.attachPersistentStore(at: folder, for: StoreConfiguration(fileName: composed + ".sqlite"))
          }
            == refusal)
        #expect(try names(in: folder).filter { $0.hasSuffix(".sqlite") }.count == 1)
        try detach(earlier)
        #if os(Linux)
          // Here it is another one.
          #expect(try ids(composed) == [])
          #expect(try ids(separate) == [])
        #endif
      }
    }
  }
#endif
