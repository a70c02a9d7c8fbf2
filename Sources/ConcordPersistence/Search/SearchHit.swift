public import ConcordModel

/// An entity that a search has found.
///
/// ```swift
/// for hit in hits.value { print(hit.entity.title, hit.snippets.map { $0.marked("*", "*") }) }
/// ```
///
/// Rank and snippets are made where they are asked for.
public struct SearchHit<T: PersistentEntity>: Sendable, Identifiable {
  /// The entity.
  public let entity: T
  /// The search that has found the entity.
  public let query: SearchQuery
  private let texts: SearchedTexts<T>

  init(entity: T, query: SearchQuery, _ texts: SearchedTexts<T>) {
    (self.entity, self.query, self.texts) = (entity, query, texts)
  }

  /// The id of the entity.
  public var id: T.ID { entity.id }

  /// The rank of the hit: a greater one is a better hit. It is that of `entity[searchRank: query]`.
  ///
  /// - Complexity: the length of the searchable texts.
  public var rank: Double { texts.rank(of: texts.texts(of: entity), query) }

  /// The parts of the texts with the words that were searched for: one for each property that has any, in the order of the properties.
  ///
  /// - Complexity: the length of the searchable texts.
  public var snippets: [SearchSnippet] { snippets(length: 160) }

  /// Returns the parts of the texts with the words that were searched for: one for each property that has any, in the order of the
  /// properties.
  ///
  /// - Parameter length: the length of a part in characters, about.
  /// - Complexity: the length of the searchable texts.
  public func snippets(length: Int) -> [SearchSnippet] {
    zip(texts.texts, texts.texts(of: entity)).compactMap { text, value in
      guard let value else { return nil }
      let snippet = query.snippet(of: value, property: text.name, length: length)
      return snippet.highlights.isEmpty ? nil : snippet
    }
  }

  /// Returns the part of the text of a property with the words that were searched for, or its beginning where it has none.
  ///
  /// ```swift
  /// let title = hit.snippet(of: "title")?.marked("<b>", "</b>")
  /// ```
  ///
  /// - Parameters:
  ///   - property: the name of the property.
  ///   - length: the length of the part in characters, about.
  /// - Returns: `nil` if the property is not searchable, or has no text.
  /// - Complexity: the length of the text.
  public func snippet(of property: String, length: Int = 160) -> SearchSnippet? {
    guard let index = texts.texts.firstIndex(where: { $0.name == property }),
      let value = texts.texts(of: entity)[index]
    else { return nil }
    return query.snippet(of: value, property: property, length: length)
  }
}

extension SearchHit: CustomStringConvertible {
  public var description: String { "\(entity)" }
}

extension SearchHit: Equatable where T: Equatable {
  public static func == (a: SearchHit, b: SearchHit) -> Bool { a.entity == b.entity && a.query == b.query }
}
