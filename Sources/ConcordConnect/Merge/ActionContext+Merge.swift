public import Concord
public import ConcordPersistence
public import Foundation

extension ActionContext {
  /// Makes the stored entities of a type equal to what a web service returned, and saves: what is not stored is inserted, what
  /// differs is updated, what was not returned is deleted. What is the same is not written.
  ///
  /// ```swift
  /// try context.merge(
  ///   objects: books, for: Book.self, ignoreAttributes: ["price"], subsetFilter: #Predicate { $0.shelf == 7 },
  ///   condition: #Predicate { !$0.isEdited })
  /// ```
  ///
  /// Objects may come in any order; of several of one entity the last counts. Entities inside of the objects are stored with
  /// them, and none of them is deleted. What others have changed meanwhile is merged by the context's policy.
  ///
  /// - Parameters:
  ///   - objects: what is to be stored.
  ///   - type: the type of the entities. ``ManagedEntity`` says how they are told apart, if not by their ids.
  ///   - ignoreAttributes: names of properties that stay as they are stored. What is inserted has them from the object.
  ///   - subsetFilter: which stored entities the service was asked for; all, if `nil`. Others are not deleted.
  ///   - condition: which stored entities may be updated or deleted, as they are stored; all, if `nil`.
  ///   - stamp: how fresh the objects are; now, if `nil`. What is stored and is fresher stays.
  /// - Throws: ``Errors``, ``/ConcordModel/StoreError``, or what a predicate throws; then nothing has changed.
  /// - Complexity: one pass over the stored subset and the objects, which are sorted first. With a `subsetFilter` what is not found in
  ///   the subset is looked up.
  public func merge<T: PersistentEntity>(
    objects: [T], for type: T.Type, ignoreAttributes: [String] = [], subsetFilter: Predicate<T>? = nil,
    condition: Predicate<T>? = nil, modifiedAt stamp: Stamp? = nil
  ) throws {
    try merge(objects, ignoreAttributes, subsetFilter, condition, keepsMissing: false, stamp)
  }

  /// Stores a page of what a web service returns, and saves: as ``merge(objects:for:ignoreAttributes:subsetFilter:condition:modifiedAt:)``,
  /// but nothing is deleted, since what is missing may lie on another page.
  ///
  /// - Complexity: that of the page.
  public func merge<T: PersistentEntity>(
    page objects: [T], for type: T.Type, ignoreAttributes: [String] = [], condition: Predicate<T>? = nil,
    modifiedAt stamp: Stamp? = nil
  ) throws {
    try merge(objects, ignoreAttributes, nil, condition, keepsMissing: true, stamp)
  }

  /// - Parameter removals: what was removed since the stamp is not inserted.
  func merge<T: PersistentEntity>(
    _ objects: [T], _ ignoreAttributes: [String], _ subsetFilter: Predicate<T>?, _ condition: Predicate<T>?,
    keepsMissing: Bool, _ stamp: Stamp?, removals: CollectedRemovals? = nil
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
      condition: condition, keepsMissing: keepsMissing, stamp: stamp, removals: removals)
    try performAndWait {
      if let outcome = try meter.measure(.saving, { try mergeAndSave(request) }) { return meter.didMerge(outcome) }
      try meter.measure(.reading) { meter.didFetch(try merge(request)) }
      if hasChanges { try save() }
    }
  }
}
