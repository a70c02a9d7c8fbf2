@testable import Concord
import Testing

// As somebody does who wants to list them on a screen.
extension Duration: @retroactive Identifiable {
  public var id: Duration { self }
}

@Suite("Units: places found by the type")
struct FoundPlaceTests {
  private enum Genre: String, Sendable { case novel }
  private struct Edition: Sendable { var leaf: Leaf }

  @Test("Entities and wrappers are places, in whatever stands around them")
  func places() {
    let types: [Any.Type] = [
      Leaf.self, Leaf??.self, [Leaf].self, [[Leaf?]].self, [String: [Leaf]?].self, Set<Leaf>.self, Set<[Leaf]>.self,
      ContiguousArray<[Leaf]>.self, Niche.self, [Niche?].self, [Int: Niche].self, Set<Niche>.self,
    ]
    for type in types { #expect(isPlace(type), "\(type)") }
  }

  @Test("Other values are none, nor are plain ones that somebody made Identifiable")
  func noPlaces() {
    let types: [Any.Type] = [
      Int.self, [[Int]].self, String.self, [String: [String]].self, Genre.self, Edition.self, [Edition].self,
      (any Sendable).self, (Int, Leaf).self, [Leaf: Int].self, Duration.self, [Duration].self, [String: Duration].self,
    ]
    for type in types { #expect(!isPlace(type), "\(type)") }
  }

  private func isPlace(_ type: Any.Type) -> Bool {
    func open<Value>(_: Value.Type) -> Bool { findPlace(Value.self) != nil }
    return _openExistential(type, do: open)
  }
}
