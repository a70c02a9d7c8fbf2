import Concord

extension UndoTests {
  struct Writer: Identifiable, Equatable {
    let id: Int
    var name: String
    var born = 1900
  }

  struct Novel: Aggregate, Equatable {
    let id: Int
    var title: String
    var pages = 100
    var tags: Set<String> = []
    var prices: [String: Int] = [:]
    var writer: Writer
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.writer)] }
  }

  struct Case: Aggregate, Equatable {
    let id: Int
    var name = "case"
    var novels: [Novel] = []
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.novels)] }
  }

  static let steinbeck = Writer(id: 1, name: "Steinbeck")
  var steinbeck: Writer { Self.steinbeck }
  func novel(_ id: Int, _ title: String, _ writer: Writer = Self.steinbeck) -> Novel {
    Novel(id: id, title: title, writer: writer)
  }

  func rename(_ id: Int, _ title: String) { store.update(Novel.self, id: id) { $0.title = title } }
  func title(_ id: Int) -> String? { store.value(Novel.self, id: id)?.title }
}

extension AliasKey where T == UndoTests.Novel { static var chosenNovel: Self { "current" } }
extension AliasKey where T == [UndoTests.Novel] { static var novelList: Self { "list" } }
