#if Macros
  import ConcordMacros

  @Entity struct Author: Hashable {
    let id: String
    var name: String
  }

  @Entity struct Review: Equatable {
    let id: Int
    var text: String
    var reviewer: Author
  }

  @Entity struct Book: Equatable {
    let id: String
    var title: String
    var author: Author
    var reviews: [Review] = []
    var related: [String: Book]?
  }

  @EntityWrapper enum Media: Equatable {
    case book(Book)
    case letter(from: Author, to: Author)
    case magazine(String, editors: [Author])
    case anonymous(Author?)
    case none
  }

  /// A property of another type has the name of a case.
  @EntityWrapper enum Caption: Equatable {
    case book(Book), none
    var book: String { self == .none ? "nothing" : "a book" }
  }

  @Entity struct Card: Equatable {
    let id: Int
    var caption: Caption
    var `a "quoted"́ one`: Author?
  }

  @EntityWrapper enum Gift: Equatable {
    case book(Book), voucher(Int)
  }

  /// What `ForEach` wants of an enum does not make it an entity.
  @EntityWrapper enum Row: Identifiable, Equatable {
    case book(Book), header(String), none
    var id: String { book?.id ?? "header" }
  }

  /// Cases that only their labels tell apart.
  @EntityWrapper enum Credit: Equatable {
    case by(author: Author), by(editor: Author, Int), by(Book), none
  }

  @EntityWrapper struct Index: Hashable {
    var set: Set<Author>
    var dictionary: [Int: Author]
  }

  typealias Authors = ContiguousArray<Author>
  typealias MaybeAuthor = Author?

  @propertyWrapper struct Trimmed<Value: Sendable>: Sendable {
    private var value: Value
    var wrappedValue: Value {
      get { value }
      set { value = newValue }
    }
    init(wrappedValue: Value) { value = wrappedValue }
  }

  /// One property for each shape a relation can have, and some that are none.
  @Entity(id: \.number) struct Shelf {
    let number: Int
    var plain = "plain"
    var one: Author
    var maybe: MaybeAuthor
    var array: [Author] = []
    var maybeArray: [Author]?
    var slice: ArraySlice<Author> = []
    var alias: Authors = []
    var set: Set<Author> = []
    var dictionary: [Int: Author] = [:]
    var maybeDictionary: [Int: Author]?
    var media = Media.none
    var maybeMedia: Media?
    var medias: [Media] = []
    private var hidden: Author?
    var observed: Author? { didSet { changes += 1 } }
    @Trimmed var wrapped: Author?
    @EntityIgnored var ignored: Author?
    @EntityIgnored let constant: Author?
    var (left, right): (Author?, Int) = (nil, 0)
    var changes = 0

    /// A shelf with the author at every place.
    init(full author: Author) {
      (number, one, maybe, array, maybeArray, slice, alias) = (
        1, author, author, [author], [author], [author], [author]
      )
      (set, dictionary, maybeDictionary) = ([author], [1: author], [1: author])
      (media, maybeMedia) = (.letter(from: author, to: author), .anonymous(author))
      medias = [.magazine("Weekly", editors: [author]), .none]
      (hidden, observed, wrapped, ignored, constant, left) = (author, author, author, author, author, author)
    }

    /// The names of all authors that should follow the store, in the order of the properties.
    var names: [String] {
      var all: [Author?] = [one, maybe] + array + (maybeArray ?? []) + Array(slice) + Array(alias) + Array(set)
      all += Array(dictionary.values) + Array((maybeDictionary ?? [:]).values)
      all += [media.letterFrom, media.letterTo, maybeMedia?.anonymous] + (medias.first?.magazineEditors ?? [])
      all += [hidden, observed, wrapped, left]
      return all.map { $0?.name ?? "nobody" }
    }
  }

  @Entity struct Page<Item: Identifiable & Sendable> {
    let id: Int
    var items: [Item]
    var first: Item?
  }
#endif
