import Concord

/// An aggregate that is not `Equatable`, with relations that depend on values, that are computed, and that are sorted.
struct Album: Aggregate {
  let id: Int
  var title: Int
  /// Whether `pinned` is the relation, or `own`; the other one is data of the album's.
  var usesPinned = 0
  var parts: [Piece] = []
  var items: [Item] = [] {
    didSet { items = items.map(\.slot).sorted(by: Slot.isBefore).map(Item.init) }
  }
  private var storedTags: [Tag] = []
  var own: Tag?
  var pinned: Tag?

  init(id: Int, title: Int) { (self.id, self.title) = (id, title) }

  /// Sorted by text.
  var tags: [Tag] {
    get { storedTags.sorted { ($0.text, $0.id) < ($1.text, $1.id) } }
    set { storedTags = newValue }
  }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [.init(wrapper: \.parts), .init(wrapper: \.items), .init(\.tags), usesPinned == 1 ? .init(\.pinned) : .init(\.own)]
  }
}

/// A wrapper with several entities in one case, and with a case whose relations depend on its value.
enum Piece: EntityWrapper, Equatable {
  struct Clip: Equatable {
    var medium: Tag
    var preview: Tag?
    var hasPreview: Bool
  }

  case none, pair(Tag, Tag), list([Tag]), clip(Clip)

  var first: Tag? {
    get { if case .pair(let first, _) = self { first } else { nil } }
    set { if let newValue, case .pair(_, let second) = self { self = .pair(newValue, second) } }
  }

  var second: Tag? {
    get { if case .pair(_, let second) = self { second } else { nil } }
    set { if let newValue, case .pair(let first, _) = self { self = .pair(first, newValue) } }
  }

  var list: [Tag]? {
    get { if case .list(let list) = self { list } else { nil } }
    set { if let newValue { self = .list(newValue) } }
  }

  private var clip: Clip? {
    get { if case .clip(let clip) = self { clip } else { nil } }
    set { if let newValue { self = .clip(newValue) } }
  }

  var medium: Tag? {
    get { clip?.medium }
    set { if let newValue { clip?.medium = newValue } }
  }

  var preview: Tag? {
    get { clip?.preview }
    set { clip?.preview = newValue }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    let all: [PartialIdentifiableKeyPath<Root>] = [
      .init(parent.appending(path: \.first)), .init(parent.appending(path: \.second)),
      .init(parent.appending(path: \.list)), .init(parent.appending(path: \.medium)),
    ]
    return clip?.hasPreview == true ? all + [.init(parent.appending(path: \.preview))] : all
  }
}

// MARK: - As slots

extension Piece {
  /// What the first slot of a piece says it is. A preview that is no relation is a number from `plainPreview` on.
  enum Code {
    static let (none, pair, list, clip, clipWithPreview, plainPreview) = (0, 1, 2, 3, 4, 5)
  }
  /// The key of a slot says which of the piece's entities it is.
  enum Key {
    static let (first, second, element, medium, preview) = (1, 2, 3, 4, 5)
  }

  /// Where the piece begins that the slot at `index` is in.
  private static func start<Child>(of index: Int, in slots: [Slot<Child>]) -> Int {
    slots[...index].lastIndex { $0.key == 0 } ?? 0
  }

  private static func end<Child>(of start: Int, in slots: [Slot<Child>]) -> Int {
    slots[(start + 1)...].firstIndex { $0.key == 0 } ?? slots.count
  }

  /// What goes when the entity at `index` is taken out: it alone, or the piece with it.
  static func removed<Child>(_ index: Int, from slots: [Slot<Child>]) -> Range<Int> {
    if [Key.element, Key.preview].contains(slots[index].key) { return index..<index + 1 }
    let start = start(of: index, in: slots)
    return start..<end(of: start, in: slots)
  }

  var slots: [Slot<Tree>] {
    func slot(_ key: Int, _ tag: Tag) -> Slot<Tree> { Slot(key: key, child: tag.tree) }
    switch self {
    case .none: return [Slot(plain: Code.none)]
    case .pair(let first, let second):
      return [Slot(plain: Code.pair), slot(Key.first, first), slot(Key.second, second)]
    case .list(let tags): return [Slot(plain: Code.list)] + tags.map { slot(Key.element, $0) }
    case .clip(let clip):
      let medium = slot(Key.medium, clip.medium)
      guard let preview = clip.preview else {
        return [Slot(plain: clip.hasPreview ? Code.clipWithPreview : Code.clip), medium]
      }
      if clip.hasPreview { return [Slot(plain: Code.clipWithPreview), medium, slot(Key.preview, preview)] }
      return [Slot(plain: Code.plainPreview + preview.id * 10 + preview.text), medium]
    }
  }

  static func parts(_ slots: [Slot<Tree>]) -> [Piece] {
    slots.indices.filter { slots[$0].key == 0 }.map { Piece(slots[$0..<end(of: $0, in: slots)]) }
  }

  private init(_ slots: ArraySlice<Slot<Tree>>) {
    let code = slots.first?.plain ?? Code.none
    let tags = slots.compactMap { $0.child.map(Tag.init(tree:)) }
    switch code {
    case Code.none: self = .none
    case Code.pair: self = .pair(tags[0], tags[1])
    case Code.list: self = .list(tags)
    case Code.clip: self = .clip(Clip(medium: tags[0], preview: nil, hasPreview: false))
    case Code.clipWithPreview:
      self = .clip(Clip(medium: tags[0], preview: tags.count > 1 ? tags[1] : nil, hasPreview: true))
    default:
      let number = code - Code.plainPreview
      self = .clip(
        Clip(medium: tags[0], preview: Tag(id: number / 10, text: number % 10), hasPreview: false))
    }
  }
}
