import Concord
import ConcordModel

/// The searchable texts of a type of entities.
final class SearchedTexts<T: PersistentEntity>: Sendable {
  struct Text: Sendable {
    let name: String
    let position: Int
    let weight: Double
    let keyPath: (any PartialKeyPath<T> & Sendable)?
  }

  let texts: [Text]
  private let entity: EntityDescription
  /// Whether an entity's row is needed, as for the texts of wrappers.
  private let needsRow: Bool

  private init() {
    let entity = EntityDescription(T.self)
    self.entity = entity
    var paths: [Int: any PartialKeyPath<T> & Sendable] = [:]
    var position = 0
    for property in T.persistentProperties {
      if property.keyPath is KeyPath<T, String> || property.keyPath is KeyPath<T, String?> {
        paths[position] = property.keyPath
      }
      position += property.columns.count
    }
    texts = entity.searchablePositions.map { [paths] position in
      let column = entity.columns[position]
      return Text(
        name: column.name, position: position, weight: column.searchWeight ?? 1, keyPath: paths[position])
    }
    needsRow = texts.contains { $0.keyPath == nil }
  }

  /// Returns the texts of an entity, by position; `nil` for one that is missing.
  func texts(of value: T) -> [String?] {
    // What cannot be written to a row has no texts, as it has in no store.
    guard needsRow else { return texts.map { $0.keyPath.flatMap { value.text(at: $0) } } }
    guard let row = try? entity.row(of: value, stamp: 0) else { return texts.map { _ in nil } }
    return texts.map { row.values[$0.position].text }
  }

  func rank(of texts: [String?], _ query: SearchQuery) -> Double {
    query.rank(zip(self.texts, texts).compactMap { text, value in value.map { (FoldedText($0), text.weight) } })
  }

  private static var known: Locked<[ObjectIdentifier: any Sendable]> { knownTexts }

  /// The texts of the type, found once.
  static var ofType: SearchedTexts {
    if let known = known.withLock({ $0[ObjectIdentifier(T.self)] }) as? SearchedTexts { return known }
    // Without the lock: the properties are the user's code.
    let new = SearchedTexts()
    known.withLock { $0[ObjectIdentifier(T.self)] = new }
    return new
  }
}

private let knownTexts = Locked<[ObjectIdentifier: any Sendable]>([:])

extension PersistentEntity {
  fileprivate func text(at keyPath: PartialKeyPath<Self>) -> String? {
    if let keyPath = keyPath as? KeyPath<Self, String> { return self[keyPath: keyPath] }
    return (keyPath as? KeyPath<Self, String?>).flatMap { self[keyPath: $0] }
  }
}

extension SearchQuery {
  /// The rank of a row.
  func rank(_ entity: EntityDescription, _ value: (Int) -> StoredValue) -> Double {
    rank(
      entity.searchablePositions.compactMap { position in
        value(position).text.map { (FoldedText($0), entity.columns[position].searchWeight ?? 1) }
      })
  }
}

extension StoredValue {
  /// The text; `nil` for anything else.
  package var text: String? { if case .text(let text) = self { text } else { nil } }
}
