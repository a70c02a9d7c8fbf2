import Concord
public import ConcordModel
import Foundation
import Synchronization

extension ViewContext {
  /// Keeps entities of a type in memory that the view has found, also when nobody observes them any longer.
  ///
  /// ```swift
  /// try container.viewContext.keep(Article.self, .atMost(200))
  /// ```
  ///
  /// Without a rule, an entity goes with its last observer, and the next ``find(_:id:)`` reads it from its store. Those that were found last are kept
  /// by ``Retention/atMost(_:)`` and ``Retention/used(within:)``, and by ``Retention/matching(_:)`` those that meet a condition when they are found: if
  /// that changes, they go after some more were found. What is kept is kept up to date, and counts as observed. A later rule for the type replaces it, and lets
  /// go of what it has kept. So does the detaching of its store.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` for a type that is not a part of the model.
  public func keep<T: PersistentEntity>(_ type: T.Type, _ retention: Retention<T>) throws {
    let entity = try model.entity(type)
    switch retention.rule {
    case .atMost(let count): cache.set(entity, most: count, time: nil, nil)
    case .usedWithin(let time): cache.set(entity, most: .max, time: time, nil)
    case .matching(let predicate):
      let (entities, predicate) = (entities, CheckedPredicate(predicate))
      cache.set(entity, most: .max, time: nil) { key in
        guard let id = try? T.id(storedKey: key), let value = entities.find(type, id: id)?.value else { return false }
        return (try? predicate.evaluate(value)) ?? false
      }
    }
  }

  /// Keeps nothing of a type that nobody observes: ends the rule that ``keep(_:_:)`` has set.
  ///
  /// - Throws: ``/ConcordModel/StoreError/unknownEntity(_:)`` if the type is not in the model.
  public func keepObserved<T: PersistentEntity>(_ type: T.Type) throws { cache.remove(try model.entity(type)) }

  /// Notes that an entity was found.
  func didFind<T: PersistentEntity>(_ type: T.Type, _ id: T.ID, _ found: EntityObserver<T>?) {
    // Fast path: usually there is no rule.
    guard notesUses || cache.isUsed.load(ordering: .relaxed), let found, let entity = try? model.entity(type),
      let key = try? T.storedKey(of: id)
    else { return }
    let entityKey = EntityKey(entity, key)
    cache.use(entityKey, found)
    home?.uses.note(CollectionOfOne(key), of: entity)
  }

  /// Notes that entities were fetched.
  ///
  /// - Complexity: their number, where there is a rule for their type.
  func didFetch<T: PersistentEntity>(_ found: [T]) {
    guard notesUses, let home, let entity = try? model.entity(T.self), home.uses.isFollowing(entity) else { return }
    home.uses.note(found.compactMap { try? T.storedKey(of: $0.id) }, of: entity)
  }

  /// Whether there ever was a rule about the stores of the view.
  var notesUses: Bool { home?.uses.isFollowingAny.load(ordering: .relaxed) ?? false }
}
