import ConcordConsistency

/// What the two kinds of videos share: a flat object beside others in a list, with one object in it.
protocol OwnedVideo: ConsistentObject, Equatable, Sendable {
  var title: String { get set }
  var authorID: String { get }
  var authorName: String { get set }

  init(number: Int)
}

/// A video whose conformance is written by hand, as the earlier system's documentation shows it.
struct Video: OwnedVideo {
  struct Person: ConsistentObject, Equatable {
    let id: String
    var name: String

    var properties: [Property] { [("id", id), ("name", name)] }

    func setting(property: Property) -> Person {
      var copy = self
      if property.label == "name", let name = property.value as? String { copy.name = name }
      return copy
    }
  }

  let id: String
  var title: String
  var author: Person

  var authorID: String { author.id }

  var authorName: String {
    get { author.name }
    set { author.name = newValue }
  }

  init(number: Int) {
    id = "video-\(number)"
    title = "A video that somebody made, part \(number)"
    author = Person(id: "person-\(number % 100)", name: "The person with number \(number % 100)")
  }

  var properties: [Property] { [("id", id), ("title", title), ("author", author)] }

  func setting(property: Property) -> Video {
    var copy = self
    switch property.label {
    case "title": if let title = property.value as? String { copy.title = title }
    case "author": if let author = property.value as? Person { copy.author = author }
    default: break
    }
    return copy
  }
}
