import Concord

/// An entity whose relations of every shape can lead back to it. One of them depends on its value: `flagged` is a relation
/// as long as `isFlagged` says so, and data of its own otherwise.
struct Circle: Aggregate, Hashable {
  let id: Int
  var name: Int
  var isFlagged = 0
  var inner: Set<Circle> = []
  var byKey: [String: Circle]?
  var line: ContiguousArray<Circle>?
  var row = Row<Circle>()
  var badges: [Badge] = []
  var flagged: [Circle] = []
  var people: [Person] = []

  // A struct cannot contain itself but through something that allocates.
  private var pairBox: [Pair<Circle>] = []
  private var badgeBox: [Badge] = []
  private var stubbornBox: [Circle] = []

  init(id: Int, name: Int) { (self.id, self.name) = (id, name) }

  var pair: Pair<Circle>? {
    get { pairBox.first }
    set { pairBox = newValue.map { [$0] } ?? [] }
  }
  var badge: Badge? {
    get { badgeBox.first }
    set { badgeBox = newValue.map { [$0] } ?? [] }
  }
  /// Its setter ignores `nil`.
  var stubborn: Circle? {
    get { stubbornBox.first }
    set { if let newValue { stubbornBox = [newValue] } }
  }

  mutating func setStubborn(_ circle: Circle?) { stubbornBox = circle.map { [$0] } ?? [] }

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
  case plain(Int), circle(Circle)

  var circle: Circle? {
    get { if case .circle(let circle) = self { circle } else { nil } }
    set { if let newValue { self = .circle(newValue) } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [.init(parent.appending(path: \.circle))]
  }
}
