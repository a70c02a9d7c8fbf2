import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Merge policies")
struct MergePolicyTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let kind: StoreKind
    let policy: MergePolicy

    var testDescription: String { "\(kind.rawValue), \(policy)" }

    static let all = StoreKind.allCases.flatMap { kind in
      [MergePolicy.byStamp, .error, .storeTrump, .objectTrump].map { Case(kind: kind, policy: $0) }
    }
  }

  /// Another context has changed the entity after this one did, or before. Saves this one's change, and gives what is stored.
  private func merge(
    _ test: Case, isOursNewer: Bool, ours: (BackgroundContext) throws -> Void,
    theirs: (BackgroundContext) throws -> Void
  ) throws -> (stored: Review?, conflict: [String]?) {
    try test.kind.withCoordinator(libraryModel()) { coordinator in
      let (first, other, own) = (coordinator.newContext(), coordinator.newContext(), coordinator.newContext())
      first.insert(Review(id: 1, text: "base", stars: 0))
      try first.save()
      own.mergePolicy = test.policy
      if isOursNewer {
        // What this context knows is from before the other's change, and its change is the newer one.
        try own.update(Review.self, id: 1) { $0.stars = 99 }
        try theirs(other)
        try own.update(Review.self, id: 1) { $0.stars = 0 }
        try ours(own)
      } else {
        try ours(own)
        try theirs(other)
      }
      try other.save()
      do {
        try own.save()
        #expect(!own.hasChanges)
      } catch StoreError.conflict("Review", "1", let properties) {
        #expect(own.hasChanges)
        return (try first.find(Review.self, id: 1), properties)
      }
      return (try first.find(Review.self, id: 1), nil)
    }
  }

  @Test("Different properties are merged under each policy", arguments: Case.all)
  func differentProperties(_ test: Case) throws {
    for isOursNewer in [false, true] {
      let (stored, conflict) = try merge(test, isOursNewer: isOursNewer) {
        try $0.update(Review.self, id: 1) { $0.text = "ours" }
      } theirs: {
        try $0.update(Review.self, id: 1) { $0.stars = 5 }
      }
      #expect(stored == Review(id: 1, text: "ours", stars: 5))
      #expect(conflict == nil)
    }
  }

  @Test("The policy decides about a property that both changed", arguments: Case.all)
  func sameProperty(_ test: Case) throws {
    for isOursNewer in [false, true] {
      let (stored, conflict) = try merge(test, isOursNewer: isOursNewer) {
        try $0.update(Review.self, id: 1) { $0.text = "ours" }
      } theirs: {
        try $0.update(Review.self, id: 1) { $0.text = "theirs" }
      }
      switch test.policy {
      case .byStamp: #expect(stored?.text == (isOursNewer ? "ours" : "theirs"))
      case .storeTrump: #expect(stored?.text == "theirs")
      case .objectTrump: #expect(stored?.text == "ours")
      case .error: #expect(stored?.text == "theirs" && conflict == ["text"])
      }
      #expect(stored?.stars == 0)
    }
  }

  @Test("The same change of both is a conflict under the policy error, and under no other", arguments: Case.all)
  func sameChange(_ test: Case) throws {
    let (stored, conflict) = try merge(test, isOursNewer: true) {
      try $0.update(Review.self, id: 1) { $0.text = "same" }
    } theirs: {
      try $0.update(Review.self, id: 1) { $0.text = "same" }
    }
    #expect(stored?.text == "same" && conflict == (test.policy == .error ? ["text"] : nil))
  }

  @Test("The same insertion of both is a conflict under the policy error, and what stands inside is none")
  func sameInsertion() throws {
    for kind in StoreKind.allCases {
      try kind.withCoordinator(libraryModel()) { coordinator in
        let (first, second) = (coordinator.newContext(), coordinator.newContext())
        let author = Author(id: "a", name: "A")
        for context in [first, second] {
          context.mergePolicy = .error
          context.insert(Book(id: context === first ? "1" : "2", title: "", author: author))
        }
        try first.save()
        try second.save()
        for context in [first, second] { context.insert(Review(id: 1, text: "same", stars: 1)) }
        try first.save()
        #expect(throws: StoreError.self) { try second.save() }
        second.rollback()
        second.insert(author)
        #expect(throws: StoreError.self) { try second.save() }
      }
    }
  }

  @Test("The policy decides about an entity that the other has removed", arguments: Case.all)
  func removedByOther(_ test: Case) throws {
    let (stored, conflict) = try merge(test, isOursNewer: true) {
      try $0.update(Review.self, id: 1) { $0.text = "ours" }
    } theirs: {
      try $0.delete(Review.self, id: 1)
    }
    switch test.policy {
    case .byStamp, .storeTrump: #expect(stored == nil && conflict == nil)
    case .objectTrump: #expect(stored == Review(id: 1, text: "ours", stars: 0))
    case .error: #expect(stored == nil && conflict == ["removed"])
    }
  }

  @Test("What was deleted and inserted again is there, also if the other has removed it", arguments: Case.all)
  func insertedAgain(_ test: Case) throws {
    for isOursNewer in [false, true] {
      let (stored, conflict) = try merge(test, isOursNewer: isOursNewer) {
        try $0.delete(Review.self, id: 1)
        $0.insert(Review(id: 1, text: "ours"))
      } theirs: {
        try $0.delete(Review.self, id: 1)
      }
      #expect(stored == Review(id: 1, text: "ours") && conflict == nil)
    }
  }

  @Test("The policy decides about removing what the other has changed", arguments: Case.all)
  func removingChanged(_ test: Case) throws {
    for isOursNewer in [false, true] {
      let (stored, conflict) = try merge(test, isOursNewer: isOursNewer) {
        try $0.delete(Review.self, id: 1)
      } theirs: {
        try $0.update(Review.self, id: 1) { $0.text = "theirs" }
      }
      let theirs = Review(id: 1, text: "theirs", stars: 0)
      switch test.policy {
      case .byStamp: #expect(stored == (isOursNewer ? nil : theirs))
      case .storeTrump: #expect(stored == theirs)
      case .objectTrump: #expect(stored == nil)
      case .error: #expect(stored == theirs && conflict == ["changed"])
      }
    }
  }

  @Test("The policy decides about inserting what is stored already", arguments: Case.all)
  func inserting(_ test: Case) throws {
    for stamp in [1, nil] as [Stamp?] {
      let (stored, conflict) = try merge(test, isOursNewer: false) {
        $0.insert(Review(id: 1, text: "ours", stars: 0), modifiedAt: stamp)
      } theirs: {
        $0.insert(Review(id: 1, text: "theirs", stars: 0), modifiedAt: stamp.map { _ in Date().stamp })
      }
      switch test.policy {
      case .byStamp: #expect(stored?.text == "theirs")
      case .storeTrump: #expect(stored?.text == "theirs")
      case .objectTrump: #expect(stored?.text == "ours")
      case .error: #expect(stored?.text == "theirs" && conflict == ["text"])
      }
    }
  }
}
