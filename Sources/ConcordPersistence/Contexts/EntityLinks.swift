public import ConcordModel

/// The references of an entity's large collections, which an update changes without reading what they refer to.
///
/// ```swift
/// try context.update(Shelf.self, id: 1, leavingOut: \.books) { shelf, links in
///   shelf.name = "Novels"
///   try links.append(book, to: \.books)
/// }
/// ```
///
/// It is valid within the closure only.
public struct EntityLinks<Owner: PersistentEntity> {
  private let changes: LinkChanges

  init(_ changes: LinkChanges) { self.changes = changes }

  /// Returns the number of entities in a collection.
  ///
  /// - Throws: ``/ConcordModel/StoreError/misdescribed(entity:reason:)`` if the update does not leave the collection out.
  public func count<C: Collection>(of collection: KeyPath<Owner, C>) throws -> Int where C.Element: PersistentEntity {
    changes.elements(try changes.index(of: collection)).count
  }

  /// Returns the ids of the entities in a collection, in order.
  ///
  /// - Throws: ``/ConcordModel/StoreError/misdescribed(entity:reason:)`` if the update does not leave the collection
  ///   out; ``/ConcordModel/StoreError/unreadable(_:as:)`` for a stored id that is none of the type.
  /// - Complexity: O(*n*), where *n* is the number of ids.
  public func ids<E: PersistentEntity>(of collection: KeyPath<Owner, [E]>) throws -> [E.ID] {
    try changes.elements(try changes.index(of: collection)).column(0).map { try E.id(storedKey: $0) }
  }

  /// Appends an entity to a collection. Its value is stored, too, as if it had been appended to the array.
  ///
  /// - Throws: ``/ConcordModel/StoreError/misdescribed(entity:reason:)`` if the update does not leave the collection
  ///   out.
  public func append<E: PersistentEntity>(_ entity: E, to collection: KeyPath<Owner, [E]>) throws {
    try insert(entity, at: .max, in: collection)
  }

  /// Inserts an entity into a collection, at the end if the position is after it. Its value is stored, too.
  ///
  /// - Parameters:
  ///   - entity: the entity.
  ///   - position: the index before which it is inserted, from 0. One below 0 means the beginning.
  ///   - collection: the key path of the collection.
  /// - Throws: ``/ConcordModel/StoreError/misdescribed(entity:reason:)`` if the update does not leave the collection
  ///   out.
  public func insert<E: PersistentEntity>(_ entity: E, at position: Int, in collection: KeyPath<Owner, [E]>) throws {
    let index = try changes.index(of: collection)
    let key = try E.storedKey(of: entity.id)
    changes.change(index) { $0.insert([key], at: min(max(0, position), $0.count)) }
    changes.add(entity)
  }

  /// Removes an entity from a collection, wherever it stands there. The entity itself stays stored.
  ///
  /// - Returns: whether it was there.
  /// - Throws: ``/ConcordModel/StoreError/misdescribed(entity:reason:)`` if the update does not leave the collection
  ///   out.
  /// - Complexity: O(*n*), where *n* is the number of ids in the collection.
  @discardableResult
  public func remove<E: PersistentEntity>(_ id: E.ID, from collection: KeyPath<Owner, [E]>) throws -> Bool {
    let index = try changes.index(of: collection)
    let key = try E.storedKey(of: id)
    guard changes.elements(index).column(0).contains(key) else { return false }
    changes.change(index) { elements in elements.removeAll { $0.first == key } }
    return true
  }
}

extension ContextCore {
  func update<T: PersistentEntity>(
    _ type: T.Type, _ id: T.ID, leavingOut collections: [PartialKeyPath<T>], _ stamp: Stamp?,
    _ body: (inout T, EntityLinks<T>) throws -> Void
  ) throws -> Bool {
    let links = try LinkChanges(model.entity(type), of: type, leavingOut: collections)
    return try update(type, id, stamp, leavingOut: links) { try body(&$0, EntityLinks(links)) }
  }
}

extension BackgroundContext {
  /// Changes an entity without reading the entities in some of its collections. The closure finds these collections empty,
  /// must not set them, and changes them through their links.
  ///
  /// ```swift
  /// try context.update(Shelf.self, id: 1, leavingOut: \.books) { shelf, links in
  ///   shelf.name = "Novels"
  ///   try links.append(book, to: \.books)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: the type of the entity.
  ///   - id: the id of the entity.
  ///   - collections: the key paths of the collections whose entities are not read.
  ///   - stamp: the freshness of the change; if `nil`, the later of the date and just after the stamp of the entity.
  ///   - body: a closure that receives the entity and the links of the collections, once, on the thread of the caller.
  /// - Returns: `false` if the entity is not stored, if the closure changed its id, or if what it changed is newer.
  /// - Throws: ``/ConcordModel/StoreError``, also if the closure sets a collection that is left out, and what the closure
  ///   throws; then nothing changed.
  /// - Complexity: the number of links in the collections, of which none of the entities is read.
  @discardableResult
  public func update<T: PersistentEntity>(
    _ type: T.Type, id: T.ID, leavingOut collections: PartialKeyPath<T>..., modifiedAt stamp: Stamp? = nil,
    _ body: (inout T, EntityLinks<T>) throws -> Void
  ) throws -> Bool {
    try locked { try $0.update(type, id, leavingOut: collections, stamp, body) }
  }
}
