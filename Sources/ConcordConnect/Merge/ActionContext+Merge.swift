public import Concord
public import ConcordPersistence
import Foundation

extension ActionContext {
  /// Makes the stored entities of a type equal to the objects that a web service returned, and saves: new objects are
  /// inserted, differing ones updated, and entities that were not returned deleted. Equal ones are not written.
  ///
  /// ```swift
  /// try context.merge(
  ///   objects: books, for: Book.self, ignoreAttributes: ["price"], subsetFilter: #Predicate { $0.shelf == 7 },
  ///   condition: #Predicate { !$0.isEdited })
  /// ```
  ///
  /// Objects may be in any order; of several with one identity the last is stored. Entities inside of the objects are
  /// stored with them, and none of them is deleted. Changes that other contexts have saved meanwhile are merged by the
  /// context's policy.
  ///
  /// - Parameters:
  ///   - objects: the objects to be stored.
  ///   - type: the type of the entities. A ``ManagedEntity`` is identified by attributes instead of its id.
  ///   - ignoreAttributes: names of properties whose stored values stay. An inserted entity has the object's values.
  ///   - subsetFilter: the condition of the stored entities that the service was asked for; `nil` for all. Entities outside of the subset are not deleted.
  ///   - condition: the condition of the stored entities that may be updated or deleted; `nil` for all.
  ///   - stamp: the freshness of the objects; now, if `nil`. Fresher stored entities stay, and what was
  ///     deleted since stays deleted as long as the store remembers the deletion.
  /// - Throws: ``Errors``, or ``/ConcordModel/StoreError``, such as ``/ConcordModel/StoreError/predicateFailed(entity:reason:)``; then nothing has changed.
  /// - Complexity: one pass over the stored subset and the objects, which are sorted first. With a `subsetFilter`,
  ///   objects that are not found in the subset are looked up; by attributes without an index, in one more pass over the table.
  public func merge<T: PersistentEntity>(
    objects: [T], for type: T.Type, ignoreAttributes: [String] = [], subsetFilter: Predicate<T>? = nil,
    condition: Predicate<T>? = nil, modifiedAt stamp: Stamp? = nil
  ) throws {
    try merge(objects, ignoreAttributes, subsetFilter, condition, keepsMissing: false, stamp)
  }

  /// Stores a page of what a web service returns, and saves: as
  /// ``merge(objects:for:ignoreAttributes:subsetFilter:condition:modifiedAt:)``, but nothing is deleted, since missing
  /// entities may be on another page.
  ///
  /// - Throws: ``Errors``, or ``/ConcordModel/StoreError``, such as
  ///   ``/ConcordModel/StoreError/predicateFailed(entity:reason:)``; then nothing has changed.
  /// - Complexity: O(*n* log *n*), where *n* is the number of objects in the page, as long as that is 10,000 at most; a larger page may
  ///   read the whole table. Objects of a ``ManagedEntity`` that are not stored with their ids are looked up by their attributes, in one
  ///   pass over the table if none of these is indexed.
  public func merge<T: PersistentEntity>(
    page objects: [T], for type: T.Type, ignoreAttributes: [String] = [], condition: Predicate<T>? = nil,
    modifiedAt stamp: Stamp? = nil
  ) throws {
    try merge(objects, ignoreAttributes, nil, condition, keepsMissing: true, stamp)
  }

  func merge<T: PersistentEntity>(
    _ objects: [T], _ ignoreAttributes: [String], _ subsetFilter: Predicate<T>?, _ condition: Predicate<T>?,
    keepsMissing: Bool, _ stamp: Stamp?
  ) throws {
    if T.entityName.isEmpty { throw Errors.missingEntityName("\(T.self) has no name, cannot merge objects") }
    guard let entity = try? model.entity(T.self) else {
      throw Errors.unmanagedEntity("Entity '\(T.entityName)' not managed, cannot merge objects")
    }
    let ignored = try ignoreAttributes.map { name in
      guard let index = T.persistentProperties.firstIndex(where: { $0.name == name }) else {
        throw Errors.unknownAttribute("Entity '\(T.entityName)' has no attribute '\(name)' to ignore")
      }
      return index
    }
    let request = MergeRequest(
      objects: objects, uniqueness: try entity.uniqueness(), ignored: Set(ignored), subset: subsetFilter,
      condition: condition, keepsMissing: keepsMissing, stamp: stamp)
    try performAndWait {
      if let outcome = try meter.measure(.saving, { try mergeAndSave(request) }) { return meter.didMerge(outcome) }
      try keepingChangesIfFailing {
        try meter.measure(.reading) { meter.didFetch(try merge(request)) }
        if hasChanges { try save() }
      }
    }
  }
}
