import Concord
public import ConcordPersistence

/// The context of an ``EntityAction``. It counts its operations, and can make a part of the store equal to the objects
/// that a web service has returned: ``merge(objects:for:ignoreAttributes:subsetFilter:condition:modifiedAt:)``.
// Unchecked, because its superclass is; its own state never changes.
public final class ActionContext: BackgroundContext, @unchecked Sendable {
  let meter = ContextMeter()

  /// The operations of the context so far.
  public var statistics: any ContextStatistics { meter.snapshot }

  private func measured<R>(_ kind: ContextMeter.Kind, _ body: () throws -> R) rethrows -> R {
    // Under the context's lock.
    try super.performAndWait { try meter.measure(kind, body) }
  }

  public override func performAndWait<R>(_ body: (BackgroundContext) throws -> R) rethrows -> R {
    try measured(.block) { try body(self) }
  }

  public override func performAndWait<R>(_ body: () throws -> R) rethrows -> R { try measured(.block, body) }

  public override func find<T: PersistentEntity>(_ type: T.Type, id: T.ID) throws -> T? {
    try measured(.reading) {
      let found = try super.find(type, id: id)
      meter.didFetch(found == nil ? 0 : 1)
      return found
    }
  }

  public override func fetch<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try measured(.reading) {
      let found = try super.fetch(descriptor)
      meter.didFetch(found.count)
      return found
    }
  }

  public override func count<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try measured(.reading) { try super.count(descriptor) }
  }

  public override func save() throws {
    try measured(.saving) {
      let counts = try pendingCounts()
      try super.save()
      meter.didSave(counts)
    }
  }
}
