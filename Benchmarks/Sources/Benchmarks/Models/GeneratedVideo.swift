import ConcordConsistency

/// The same video with the conformance that `@Entity` generates, copied here so that no macro needs to be compiled.
struct GeneratedVideo: OwnedVideo {
  struct Person: Equatable {
    let id: String
    var name: String
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
}

extension GeneratedVideo: StaticallyConsistent {
  var properties: [Property] { [("id", id), ("title", title), ("author", author)] }

  func setting(property: Property) -> GeneratedVideo {
    var copy = self
    switch property.label {
    case "title": if let value = property.value as? String { copy.title = value }
    case "author": if let value = property.value as? Person { copy.author = value }
    default: break
    }
    return copy
  }

  static func declareConsistentParts(in types: inout ConsistentTypes) {
    types.include(\Self.title)
    types.include(\Self.author)
  }

  func visitConsistentParts(_ visitor: ConsistentVisitor) {
    visitor.visit(title)
    visitor.visit(author)
  }

  func mergingConsistentParts(_ merge: ConsistentMerge) -> GeneratedVideo? {
    let part0 = merge.updated(title)
    let part1 = merge.updated(author)
    var isChanged = false
    if part0 != nil { isChanged = true }
    if part1 != nil { isChanged = true }
    if !isChanged { return nil }
    var copy = self
    if let part = part0 { copy.title = part }
    if let part = part1 { copy.author = part }
    return copy
  }
}

extension GeneratedVideo.Person: StaticallyConsistent {
  var properties: [Property] { [("id", id), ("name", name)] }

  func setting(property: Property) -> GeneratedVideo.Person {
    var copy = self
    if property.label == "name", let value = property.value as? String { copy.name = value }
    return copy
  }

  static func declareConsistentParts(in types: inout ConsistentTypes) { types.include(\Self.name) }

  func visitConsistentParts(_ visitor: ConsistentVisitor) { visitor.visit(name) }

  func mergingConsistentParts(_ merge: ConsistentMerge) -> GeneratedVideo.Person? {
    guard let name = merge.updated(name) else { return nil }
    var copy = self
    copy.name = name
    return copy
  }
}
