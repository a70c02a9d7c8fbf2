#if Macros
  import ConcordConsistencyMacros

  @Entity @Consistent struct Author: Hashable {
    let id: String
    var name: String
  }

  @Entity @Consistent struct Review: Equatable {
    let id: Int
    var text: String
    var reviewer: Author
  }

  @Entity @Consistent struct Book: Equatable {
    let id: String
    var title: String
    var author: Author
    var reviews: [Review] = []
    var related: [String: Book]?
  }

  @EntityWrapper @Consistent enum Media: Equatable {
    case book(Book)
    case letter(from: Author, to: Author)
    case magazine(String, editors: [Author])
    case anonymous(Author?)
    case none
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
  @Entity(id: \.number) @Consistent struct Shelf {
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

  /// Takes part in merges only: no store knows it.
  @Consistent struct Draft: Equatable {
    let id: Int
    var title: String
    var author: Author
  }

  /// A choice without accessors.
  @Consistent enum Topic: Equatable {
    case author(Author), books([Book], count: Int), none
  }

  @Consistent struct Note: Equatable {
    let id: Int
    var topic: Topic
  }
#endif
