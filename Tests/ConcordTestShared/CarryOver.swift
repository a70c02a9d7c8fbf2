public import ConcordPersistence

// Stands in the guides for those who come from Core Data, Coherence and SwiftData.

/// How much of an earlier store has been carried over: a row for each type of entities.
public struct CarriedOver: PersistentEntity {
  public let id: String
  public var count: Int
  public var isDone: Bool

  public static let persistentProperties: [PersistentProperty<CarriedOver>] = [
    .init("id", \.id), .init("count", \.count), .init("isDone", \.isDone),
  ]
  public init(id: String, count: Int, isDone: Bool) { (self.id, self.count, self.isDone) = (id, count, isDone) }
  public init(from row: inout RowReader) throws {
    self.init(id: try row.read(), count: try row.read(), isDone: try row.read())
  }
  public func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(count)
    try row.write(isDone)
  }
}

/// Carries all entities of a type over, in batches: once, and from where it was interrupted. `read` gives `nil` after the last batch.
public func carryOver<T: PersistentEntity>(
  _ type: T.Type, to container: any PersistentContainer, batch: Int = 500,
  reading read: (_ offset: Int, _ limit: Int) throws -> [T]?
) throws {
  let context = container.newBackgroundContext()
  var progress =
    try context.find(CarriedOver.self, id: T.entityName) ?? CarriedOver(id: T.entityName, count: 0, isDone: false)
  while !progress.isDone {
    let entities = try read(progress.count, batch)
    // Older than all that is edited or deleted here, also if two processes carry over at once.
    for entity in entities ?? [] { context.insert(entity, modifiedAt: 0) }
    progress.count += batch
    progress.isDone = entities == nil
    context.insert(progress)
    // The batch and the progress are one transaction of the store.
    try context.save()
  }
}

#if canImport(CoreData)
  import CoreData
  import Foundation

  /// Reads a batch of what Core Data's container has of an entity, in an order that stays the same; `nil` after the last one.
  func objects(
    of entity: String, in container: NSPersistentContainer, orderedBy key: String, _ offset: Int, _ limit: Int
  ) throws -> [[String: Any]]? {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
      (request.fetchOffset, request.fetchLimit) = (offset, limit)
      let found = try context.fetch(request)
      return found.isEmpty
        ? nil : found.map { $0.dictionaryWithValues(forKeys: Array($0.entity.attributesByName.keys)) }
    }
  }
#endif
