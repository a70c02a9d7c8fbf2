import Concord

/// An entity whose relations of every shape can lead back to it. One of them depends on its value: `flagged` is a relation
/// as long as `isFlagged` says so, and data of its own otherwise.
struct Clan: Aggregate, Hashable {
  let id: Int
  var name: Int
  var isFlagged = 0
  var inner: Set<Clan> = []
  var byKey: [String: Clan]?
  var line: ContiguousArray<Clan>?
  var row = Row<Clan>()
  var badges: [Badge] = []
  var flagged: [Clan] = []
  var people: [Person] = []

  // A struct cannot contain itself but through something that allocates.
  private var pairBox: [Pair<Clan>] = []
  private var badgeBox: [Badge] = []
  private var stubbornBox: [Clan] = []

  init(id: Int, name: Int) { (self.id, self.name) = (id, name) }

  var pair: Pair<Clan>? {
    get { pairBox.first }
    set { pairBox = newValue.map { [$0] } ?? [] }
  }
  var badge: Badge? {
    get { badgeBox.first }
    set { badgeBox = newValue.map { [$0] } ?? [] }
  }
  /// Its setter ignores `nil`.
  var stubborn: Clan? {
    get { stubbornBox.first }
    set { if let newValue { stubbornBox = [newValue] } }
  }

  mutating func setStubborn(_ clan: Clan?) { stubbornBox = clan.map { [$0] } ?? [] }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    let all: [PartialIdentifiableKeyPath<Self>] = [
      .init(\.inner), .init(\.byKey), .init(\.line), .init(\.row), .init(\.pair), .init(wrapper: \.badge),
      .init(wrapper: \.badges), .init(\.stubborn), .init(\.people),
    ]
    return isFlagged == 1 ? all + [.init(\.flagged)] : all
  }

  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A collection of fixed length, whatever that is.
struct Row<Element: Sendable>: MutableCollection, Sendable {
  private var elements: [Element] = []

  init(_ elements: [Element] = []) { self.elements = elements }

  var startIndex: Int { 0 }
  var endIndex: Int { elements.count }
  func index(after index: Int) -> Int { index + 1 }

  subscript(position: Int) -> Element {
    get { elements[position] }
    set { elements[position] = newValue }
  }
}

extension Row: Equatable where Element: Equatable {}

/// A wrapper that ignores `nil`.
indirect enum Badge: EntityWrapper, Equatable {
  case plain(Int), clan(Clan)

  var clan: Clan? {
    get { if case .clan(let clan) = self { clan } else { nil } }
    set { if let newValue { self = .clan(newValue) } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [.init(parent.appending(path: \.clan))]
  }
}
