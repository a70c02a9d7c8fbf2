#if Macros
  import ConcordPersistenceMacros
  import Foundation

  enum Genre: String, Codable { case novel, poem }
  struct Point: Codable, Hashable { var x = 0.5, label: String? }
  struct Price: PersistentValue, Equatable {
    var cents: Int
    static var storageClass: StorageClass { .integer }
    var storedValue: StoredValue { .integer(Int64(cents)) }
    init(cents: Int) { self.cents = cents }
    init(storedValue: StoredValue) throws { self.init(cents: try Int(storedValue: storedValue)) }
  }

  @PersistentEntity struct Item: Codable, Hashable {
    let id: Int
    var text: String
  }

  /// A wrapper: with entities, with plain values, with nothing.
  @PersistentWrapper enum Medium: Equatable {
    case item(Item)
    case maybe(Item?)
    case note(String)
    case pair(first: Item, Point)
    case by(item: Item)
    case by(name: String)
    case none
  }

  @PersistentWrapper struct Credits: Equatable {
    var author: Item
    var editors: [Item]
    @Attribute(originalName: "remark") var note = "none"
    @Transient var isOpen = false
  }

  /// With a property of each kind.
  @PersistentEntity struct Shelf: Equatable {
    let id: UUID
    @Attribute(.indexed, originalName: "label") var name: String
    @Attribute(.unique) var number: Int = 7
    var date: Date
    var genre = Genre.novel, other: Genre?
    var point = Point(), points: [Point] = [], maybePoint: Point?
    var price: Price
    var twice: String??
    var tags: Set<String>
    var counts: [String: Int] = [:]
    var first: Item
    @Attribute(.unique) var second: Item?
    var items: [Item] = []
    var maybeItems: [Item]?
    var slice: ArraySlice<Item> = []
    var set: Set<Item>
    var byName: [String: Item] = [:]
    var byPoint: [Point: Item]?
    var medium: Medium = .none
    var maybeMedium: Medium?
    var media: [Medium] = []
    var credits: Credits
    @EntityIgnored let asSold: Item
    @EntityIgnored var asSoldMaybe: Item?
    @EntityIgnored var plain: String
    @Transient var isSelected = false
    @Transient var shown: Item?
    var `default` = 1
    private(set) var row = 2
    #if Macros
      var conditional: Int
    #else
      var otherwise: Int
    #endif
  }

  /// A generic type, whose list of properties cannot be kept.
  @PersistentEntity struct Page<Content: Codable & Hashable & Sendable>: Equatable {
    static var entityName: String { "Page" }
    let id: Int
    var content: Content
    var items: [Item]
  }

  /// The identity is another property.
  @PersistentEntity(id: \.isbn) struct Edition: Equatable {
    let isbn: String
    var title: String
  }
#endif
