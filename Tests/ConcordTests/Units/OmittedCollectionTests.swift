import Testing

@testable import Concord

@Suite("The collection that stands for one that was left out")
struct OmittedCollectionTests {
  /// The collection of a type, and whether it is what it should be: empty, the same each time, and no other empty one.
  private func check<C: Collection>(
    _ type: C.Type, empty: [C], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let value = try #require(OmittedCollection<C>.value, sourceLocation: sourceLocation)
    #expect(value.isEmpty && OmittedCollection<C>.isOmitted(value), sourceLocation: sourceLocation)
    let copies = [value, value]
    #expect(
      copies.allSatisfy { OmittedCollection<C>.isOmitted($0) }
        && OmittedCollection<C>.omission(of: copies[1]) == .omitted,
      sourceLocation: sourceLocation)
    #expect(
      OmittedCollection<C>.value.map { OmittedCollection<C>.isOmitted($0) } == true, sourceLocation: sourceLocation)
    for other in empty {
      #expect(
        !OmittedCollection<C>.isOmitted(other) && OmittedCollection<C>.omission(of: other) == Omission.none,
        sourceLocation: sourceLocation)
    }
  }

  @Test("Arrays, sets and dictionaries each have one, by which they are recognised")
  func standardTypes() throws {
    var reserved: [Tag] = []
    reserved.reserveCapacity(1)
    var emptied = [Tag(id: 1, text: 1)]
    emptied.removeAll(keepingCapacity: true)
    try check([Tag].self, empty: [[], reserved, emptied])
    try check(ContiguousArray<Tag>.self, empty: [[], ContiguousArray(reserved)])
    try check(ArraySlice<Tag>.self, empty: [[], reserved[...]])
    try check(Set<Tag>.self, empty: [[], Set(minimumCapacity: 1)])
    try check([Int: Tag].self, empty: [[:], Dictionary(minimumCapacity: 1)])
    try check([[Tag]].self, empty: [[], [[]].filter { !$0.isEmpty }])
    // Each element type has one of its own.
    try check([Int].self, empty: [[]])
    try check([Tag?].self, empty: [[]])
  }

  @Test("What somebody put something into, or emptied, is recognised no longer")
  func changed() throws {
    var tags = try #require(OmittedCollection<[Tag]>.value)
    tags.append(Tag(id: 1, text: 1))
    #expect(OmittedCollection<[Tag]>.omission(of: tags) == Omission.none)
    tags.removeAll()
    #expect(OmittedCollection<[Tag]>.omission(of: tags) == Omission.none)
    // The one that is handed out is still empty.
    #expect(OmittedCollection<[Tag]>.value?.isEmpty == true)
    var set = try #require(OmittedCollection<Set<Int>>.value)
    set.insert(1)
    set.remove(1)
    #expect(OmittedCollection<Set<Int>>.omission(of: set) == Omission.none)
    #expect(OmittedCollection<Set<Int>>.value?.isEmpty == true)
  }

  @Test("It stays recognisable inside of other values, and across threads")
  func everywhere() async throws {
    struct Holder: Sendable { var tags: [Tag] }
    let holder = Holder(tags: try #require(OmittedCollection<[Tag]>.value))
    let recognised = await Task.detached { OmittedCollection<[Tag]>.isOmitted(holder.tags) }.value
    #expect(recognised && OmittedCollection<[Tag]?>.value == nil)
  }

  @Test("Threads that ask first at once get the same")
  func firstAsked() async {
    struct Own: Sendable {}
    let values = await withTaskGroup(of: [Own]?.self) { group in
      for _ in 0..<16 { group.addTask { OmittedCollection<[Own]>.value } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(values.count == 16 && values.allSatisfy { $0.map { OmittedCollection<[Own]>.isOmitted($0) } == true })
  }

  @Test("A collection that cannot be empty has none, and one without storage of its own is absent when it is empty")
  func otherTypes() {
    #expect(OmittedCollection<FixedPair>.value == nil && !OmittedCollection<FixedPair>.isOmitted(FixedPair()))
    #expect(OmittedCollection<FixedPair>.omission(of: FixedPair()) == Omission.none)
    #expect(OmittedCollection<Inline>.value?.isEmpty == true)
    #expect(!OmittedCollection<Inline>.isOmitted(Inline()))
    #expect(OmittedCollection<Inline>.omission(of: Inline()) == .absent)
    #expect(OmittedCollection<Inline>.omission(of: Inline([1])) == Omission.none)
  }
}

/// Of fixed length.
private struct FixedPair: MutableCollection {
  var elements = (0, 0)
  var startIndex: Int { 0 }
  var endIndex: Int { 2 }
  func index(after i: Int) -> Int { i + 1 }
  subscript(i: Int) -> Int {
    get { i == 0 ? elements.0 : elements.1 }
    set { if i == 0 { elements.0 = newValue } else { elements.1 = newValue } }
  }
}

/// Has no storage that could be told from another.
private struct Inline: RangeReplaceableCollection, MutableCollection {
  var only: Int?
  init() {}
  var startIndex: Int { 0 }
  var endIndex: Int { only == nil ? 0 : 1 }
  func index(after i: Int) -> Int { i + 1 }
  subscript(i: Int) -> Int {
    get { only ?? 0 }
    set { only = newValue }
  }
  mutating func replaceSubrange(_ range: Range<Int>, with elements: some Collection<Int>) {
    if !range.isEmpty { only = nil }
    only = elements.first ?? only
  }
}
