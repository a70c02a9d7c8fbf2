import ConcordConsistency
import Foundation

// Conformances as `@Entity` generates them.

struct Author: Identifiable, Hashable {
  let id: Int
  var name: String
}

extension Author: StaticallyConsistent {
  var properties: [Property] { [("id", id), ("name", name)] }

  func setting(property: Property) -> Author {
    var copy = self
    if property.label == "name", let value = property.value as? String { copy.name = value }
    return copy
  }

  static func declareConsistentParts(in types: inout ConsistentTypes) {
    types.include(\Self.name)
  }

  func visitConsistentParts(_ visitor: ConsistentVisitor) {
    visitor.visit(name)
  }

  func mergingConsistentParts(_ merge: ConsistentMerge) -> Author? {
    let name = merge.updated(self.name)
    guard name != nil else { return nil }
    var copy = self
    if let name { copy.name = name }
    return copy
  }
}

struct Book: Identifiable {
  let id: UUID
  var title: String
  var author: Author
  var editors: [Author] = []
  var translator: Author?
  var byLanguage: [String: Book]?
  var anything: [any ConsistentObject] = []
}

extension Book: StaticallyConsistent {
  var properties: [Property] {
    [
      ("id", id), ("title", title), ("author", author), ("editors", editors), ("translator", translator),
      ("byLanguage", byLanguage), ("anything", anything),
    ]
  }

  func setting(property: Property) -> Book {
    var copy = self
    switch property.label {
    case "title": if let value = property.value as? String { copy.title = value }
    case "author": if let value = property.value as? Author { copy.author = value }
    case "editors": if let value = property.value as? [Author] { copy.editors = value }
    case "translator": if let value = property.value as? Author? { copy.translator = value }
    case "byLanguage": if let value = property.value as? [String: Book]? { copy.byLanguage = value }
    case "anything": if let value = property.value as? [any ConsistentObject] { copy.anything = value }
    default: break
    }
    return copy
  }

  static func declareConsistentParts(in types: inout ConsistentTypes) {
    types.include(\Self.title)
    types.include(\Self.author)
    types.include(\Self.editors)
    types.include(\Self.translator)
    types.include(\Self.byLanguage)
    types.include(\Self.anything)
  }

  func visitConsistentParts(_ visitor: ConsistentVisitor) {
    visitor.visit(title)
    visitor.visit(author)
    visitor.visit(editors)
    visitor.visit(translator)
    visitor.visit(byLanguage)
    visitor.visit(anything)
  }

  func mergingConsistentParts(_ merge: ConsistentMerge) -> Book? {
    let title = merge.updated(self.title)
    let author = merge.updated(self.author)
    let editors = merge.updated(self.editors)
    let translator = merge.updated(self.translator)
    let byLanguage = merge.updated(self.byLanguage)
    let anything = merge.updated(self.anything)
    guard
      title != nil || author != nil || editors != nil || translator != nil || byLanguage != nil || anything != nil
    else { return nil }
    var copy = self
    if let title { copy.title = title }
    if let author { copy.author = author }
    if let editors { copy.editors = editors }
    if let translator { copy.translator = translator }
    if let byLanguage { copy.byLanguage = byLanguage }
    if let anything { copy.anything = anything }
    return copy
  }
}
