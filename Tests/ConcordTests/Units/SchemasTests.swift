import Testing

@testable import Concord

private struct Card: Aggregate, Equatable {
  let id: Int
  var tags: [Tag]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.tags)] }
}

@Suite("The schemas of a type")
struct SchemasTests {
  private let schemas = Schemas<Card>(fixed: nil)

  private func find(_ count: Int) -> Schema<Card> { schemas.find(Array(repeating: .init(\.tags), count: count)) }

  @Test("Values that declare the same have one schema, also after others")
  func same() {
    let two = find(2)
    #expect(two.indices.count == 2 && find(2) === two)
    let none = find(0)
    #expect(none !== two && none.indices.isEmpty && find(2) === two && find(0) === none)
  }

  @Test("Sixteen are remembered; one more, and the first is forgotten")
  func bounded() {
    let all = (0..<16).map(find)
    for count in 0..<16 { #expect(find(count) === all[count]) }
    let another = find(16)
    #expect(find(16) === another && find(15) === all[15])
    #expect(find(0) !== all[0])
  }

  @Test("Shapes without end hold no more than sixteen")
  func released() {
    weak var first: Schema<Card>?
    do { first = find(0) }
    #expect(first != nil)
    for count in 1...16 { _ = find(count) }
    #expect(first == nil)
  }
}
