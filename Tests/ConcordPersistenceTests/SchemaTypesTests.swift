#if Persistence
  import Concord
  import Foundation
  import Testing

  @testable import ConcordPersistence

  private struct Other: PersistentEntity, Equatable {
    let id: String
    static let persistentProperties: [PersistentProperty<Other>] = [.init("id", \.id)]
    init(id: String) { self.id = id }
    init(from row: inout RowReader) throws { id = try row.read() }
    func write(to row: inout RowWriter) throws { try row.write(id) }
  }

  private struct Pointing<Target: PersistentEntity & Equatable>: PersistentEntity, Aggregate, Equatable {
    static var entityName: String { "Pointing" }
    let id: Int
    var target: Target?
    static var persistentProperties: [PersistentProperty<Self>] { [.init("id", \.id), .init("target", \.target)] }
    init(id: Int, target: Target?) { (self.id, self.target) = (id, target) }
    init(from row: inout RowReader) throws { self.init(id: try row.read(), target: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(target)
    }
  }

  private protocol Names {
    static var first: (name: String, originalName: String?) { get }
    static var second: (name: String, originalName: String?) { get }
  }

  private enum Plain: Names {
    static var first: (name: String, originalName: String?) { ("reviews", nil) }
    static var second: (name: String, originalName: String?) { ("notes", nil) }
  }

  private enum UpperCase: Names {
    static var first: (name: String, originalName: String?) { ("Reviews", "reviews") }
    static var second: (name: String, originalName: String?) { ("notes", nil) }
  }

  private enum Exchanged: Names {
    static var first: (name: String, originalName: String?) { ("notes", "reviews") }
    static var second: (name: String, originalName: String?) { ("reviews", "notes") }
  }

  private enum BothOfOne: Names {
    static var first: (name: String, originalName: String?) { ("reviews", nil) }
    static var second: (name: String, originalName: String?) { ("more", "reviews") }
  }

  private struct Holder<N: Names>: PersistentEntity, Aggregate, Equatable {
    static var entityName: String { "Holder" }
    let id: Int
    var first: [Review]
    var second: [Review]
    static var persistentProperties: [PersistentProperty<Self>] {
      [
        .init("id", \.id), .init(N.first.name, \.first, originalName: N.first.originalName),
        .init(N.second.name, \.second, originalName: N.second.originalName),
      ]
    }
    init(id: Int, first: [Review], second: [Review]) { (self.id, self.first, self.second) = (id, first, second) }
    init(from row: inout RowReader) throws {
      self.init(id: try row.read(), first: try row.read(), second: try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(first)
      try row.write(second)
    }
  }

  /// With numbers where the holder has collections.
  private struct Counting: PersistentEntity, Equatable {
    static let entityName = "Holder"
    let id: Int
    var reviews: Int
    static let persistentProperties: [PersistentProperty<Counting>] = [.init("id", \.id), .init("reviews", \.reviews)]
    init(id: Int, reviews: Int) { (self.id, self.reviews) = (id, reviews) }
    init(from row: inout RowReader) throws { self.init(id: try row.read(), reviews: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(reviews)
    }
  }

  @Test("A program that has a file open does not read names that a newer one has exchanged")
  func exchangedMeanwhile() throws {
    try withFolder { folder in
      let (a, b) = (Review(id: 1, text: "a"), Review(id: 2, text: "b"))
      try attached(folder, [Holder<Plain>.self, Review.self]) { old in
        old.insert(Holder<Plain>(id: 1, first: [a], second: [b]))
        try old.save()
        #expect(try old.find(Holder<Plain>.self, id: 1)?.first == [a])
        try attached(folder, [Holder<Exchanged>.self, Review.self]) { new in
          let carried = try new.find(Holder<Exchanged>.self, id: 1)?.first
          #expect(carried == [a])
        }
        for _ in 0..<2 {
          #expect(reason { _ = try old.find(Holder<Plain>.self, id: 1) }?.contains("newer") == true)
          #expect(reason { _ = try old.fetch(FetchDescriptor<Holder<Plain>>()) }?.contains("newer") == true)
        }
      }
    }
  }

  @Suite("Changing types and names")
  struct SchemaTypesTests {
    private let prefix = "the store 'Types.sqlite' does not fit the model: "

    @Test("A relation that leads to another type is refused, unless nothing is there", arguments: [false, true])
    func targets(isOld: Bool) throws {
      for target in [Author(id: "a", name: "A"), nil] {
        try withFolder { folder in
          try attached(folder, [Pointing<Author>.self, Author.self]) { context in
            context.insert(Pointing(id: 1, target: target))
            try context.save()
          }
          if isOld { try forgetShapes(folder) }
          let reason = reason {
            let found = try attached(folder, [Pointing<Other>.self, Other.self]) { context in
              try context.fetch(FetchDescriptor<Pointing<Other>>())
            }
            #expect(found == [Pointing(id: 1, target: nil)])
          }
          #expect(
            reason
              == (target == nil ? nil : "\(prefix)Pointing.target is reference(Author), not reference(Other)"))
          if target == nil { return }
          let found = try attached(folder, [Pointing<Author>.self, Author.self]) { context in
            try context.fetch(FetchDescriptor<Pointing<Author>>())
          }
          #expect(found == [Pointing(id: 1, target: target)])
        }
      }
    }

    @Test("A number does not become a collection, nor a collection a number", arguments: [false, true])
    func collections(isOld: Bool) throws {
      try withFolder { folder in
        try attached(folder, [Counting.self]) { context in
          context.insert(Counting(id: 1, reviews: 2))
          try context.save()
        }
        if isOld { try forgetShapes(folder) }
        #expect(
          reason { try attached(folder, [Holder<Plain>.self, Review.self]) { _ in } }
            == "\(prefix)Holder.reviews is \(isOld ? "no collection" : "Int"), not collection")
      }
      try withFolder { folder in
        try attached(folder, [Holder<Plain>.self, Review.self]) { context in
          context.insert(Holder<Plain>(id: 1, first: [Review(id: 1, text: "a")], second: []))
          try context.save()
        }
        if isOld { try forgetShapes(folder) }
        #expect(
          reason { try attached(folder, [Counting.self]) { _ in } }
            == "\(prefix)Holder.reviews is collection, not Int")
      }
    }

    private func withHolder(isOld: Bool = false, _ body: (URL, [Review], [Review]) throws -> Void) throws {
      try withFolder { folder in
        let (first, second) = ([Review(id: 2, text: "b"), Review(id: 1, text: "a")], [Review(id: 3, text: "c")])
        try attached(folder, [Holder<Plain>.self, Review.self]) { context in
          context.insert(Holder<Plain>(id: 1, first: first, second: second))
          try context.save()
        }
        if isOld { try forgetShapes(folder) }
        try body(folder, first, second)
      }
    }

    @Test("A collection may be renamed by the case of its letters alone", arguments: [false, true])
    func upperCase(isOld: Bool) throws {
      try withHolder(isOld: isOld) { folder, first, second in
        for _ in 0..<2 {
          let found = try attached(folder, [Holder<UpperCase>.self, Review.self]) { context in
            try context.fetch(FetchDescriptor<Holder<UpperCase>>())
          }
          #expect(found == [Holder(id: 1, first: first, second: second)])
        }
      }
    }

    @Test("Collections may exchange their names; an older program does not take the one for the other")
    func exchanged() throws {
      try withHolder { folder, first, second in
        for _ in 0..<2 {
          let found = try attached(folder, [Holder<Exchanged>.self, Review.self]) { context in
            try context.fetch(FetchDescriptor<Holder<Exchanged>>())
          }
          #expect(found == [Holder(id: 1, first: first, second: second)])
        }
        #expect(
          reason { try attached(folder, [Holder<Plain>.self, Review.self]) { _ in } }
            == "the store 'Types.sqlite' was migrated to a newer model: Holder has columns that were exchanged")
      }
      try withHolder(isOld: true) { folder, _, _ in
        let text = reason { try attached(folder, [Holder<Exchanged>.self, Review.self]) { _ in } }
        #expect(text?.contains("the file does not say whether they were exchanged already") == true, "\(text ?? "")")
      }
    }

    @Test("One collection does not become two")
    func bothOfOne() throws {
      try withHolder { folder, _, _ in
        let text = reason { try attached(folder, [Holder<BothOfOne>.self, Review.self]) { _ in } }
        #expect(
          text?.contains("Holder_more and Holder_reviews would both be made of Holder_reviews") == true, "\(text ?? "")"
        )
      }
    }
  }
#endif
