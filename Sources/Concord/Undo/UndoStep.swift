/// A step that can be undone or redone: the changes of one transaction, or of a group of them.
public struct UndoStep: Sendable, Identifiable {
  /// The number of the step, greater than those of all steps that were recorded before it in this process, of whatever history. An
  /// undone step that is redone keeps it.
  public let id: Int
  /// The name of what the user did, for menus, as in *Undo Rename*.
  public let actionName: String
  /// The writer that the step was recorded with; undoing and redoing are written by the same.
  public let context: TransactionContext?
  /// The group whose further transactions join the step; `nil` if none do.
  package var group: UndoGroup?
  /// The changes of transactions, in their order, each list those of one. Several transactions share a list if nobody else has
  /// changed the same entities between them.
  package var parts: [[any UndoableChange]]

  /// The number of changed entities, counted once for each list.
  package var size: Int { parts.reduce(0) { $0 + $1.count } }

  /// Returns the step before with the changes of this one; `nil` if they are not of one group.
  ///
  /// - Parameter join: a closure that returns the parts of a step that further changes were made to.
  func joined(
    to last: UndoStep?, _ join: ([[any UndoableChange]], [[any UndoableChange]]) -> [[any UndoableChange]]
  ) -> UndoStep? {
    guard let group, var joined = last, joined.group == group, joined.actionName == actionName else { return nil }
    joined.parts = join(joined.parts, parts)
    return joined
  }

  package init(
    id: Int, actionName: String, context: TransactionContext?, group: UndoGroup?, parts: [[any UndoableChange]] = []
  ) {
    (self.id, self.actionName, self.context, self.group, self.parts) = (id, actionName, context, group, parts)
  }
}

extension UndoStep: CustomStringConvertible {
  /// The name, and the number of changed entities.
  public var description: String { "\"\(actionName)\" (\(size == 1 ? "1 change" : "\(size) changes"))" }
}

/// A part of a step: a change of one entity, in memory or in a store, or a forwarded action.
package protocol UndoableChange: Sendable {}

/// The key of transactions that become one step.
// Unchecked, since `AnyHashable` is not `Sendable`; it is made of a value that is.
package struct UndoGroup: Hashable, @unchecked Sendable {
  private let key: AnyHashable

  package init(_ key: any Hashable & Sendable) { self.key = AnyHashable(key) }
}

/// A change that undoing or redoing a step left as it is, since another writer has changed the same thing later.
public struct UndoConflict: Sendable {
  /// The reasons for which a change is left as it is.
  public enum Reason: Sendable, Hashable {
    /// Another writer has changed the same property since, or an entity that the step had put there. The newer value stays.
    case changedSince
    /// The entity is not stored any longer: it was removed, or nothing retained it.
    case notStored
    /// The entity was removed by the step, and another writer has stored the entity again with other contents, which stay.
    case storedSince
    /// The entity was inserted by the step, and another writer has put the entity into a parent, or named it, since.
    case inUse
    /// A property cannot be set alone, because it is a reference or a protocol's, and another writer has changed another property since.
    case inseparable
    /// A web service has refused the forwarded action for good, so that its change is not shown.
    case refused
    /// The forwarded action may have reached the web service, and has no inverse.
    case irreversible
    /// The inverse of the forwarded action does not apply to the present state, with what its `apply(to:)` threw.
    case doesNotApply(String)
    /// The store that keeps the forwarded action is not attached, or keeps new ones no longer, so that its inverse might be sent before
    /// it.
    case notAttached
  }

  /// The type of the entity; of an alias, that of what it names.
  public let type: any Any.Type
  // Unchecked by the compiler, since `AnyHashable` is not `Sendable`; the id is a part of a value that is.
  /// The id of the entity, or the name of the alias.
  nonisolated(unsafe) public let id: AnyHashable
  /// The name of the property; `nil` if the entity is concerned as a whole.
  public let property: String?
  /// The reason.
  public let reason: Reason

  package init(type: any Any.Type, id: AnyHashable, property: String?, reason: Reason) {
    (self.type, self.id, self.property, self.reason) = (type, id, property, reason)
  }
}

extension UndoConflict: CustomStringConvertible {
  public var description: String {
    let place = "\(type) \(id)" + (property.map { ", \($0)" } ?? "")
    return switch reason {
    case .changedSince: "\(place): has been changed since"
    case .notStored: "\(place): is not stored any longer"
    case .storedSince: "\(place): has been stored again since"
    case .inUse: "\(place): is used by others since"
    case .inseparable: "\(place): can only be set with the whole entity, which has been changed since"
    case .refused: "\(place): the service has refused the action"
    case .irreversible: "\(place): the action may have reached the service, and has no inverse"
    case .doesNotApply(let error): "\(place): the inverse does not apply: \(error)"
    case .notAttached: "\(place): the store that keeps the action keeps no new ones"
    }
  }
}

/// The result of undoing or redoing a step.
public struct UndoResult: Sendable {
  /// The step.
  public let step: UndoStep
  /// The changes that were left as they are; most often none.
  public let conflicts: [UndoConflict]

  package init(step: UndoStep, conflicts: [UndoConflict]) { (self.step, self.conflicts) = (step, conflicts) }
}

extension UndoResult: CustomStringConvertible {
  /// The step, and what was left as it is.
  public var description: String {
    conflicts.isEmpty
      ? "\(step): done" : "\(step): done, except \(conflicts.map(\.description).joined(separator: "; "))"
  }
}

/// An error of undoing and redoing, in whichever history. Nothing is changed.
///
/// ```swift
/// do {
///   try store.undo.undo()
/// } catch UndoError.overtaken(let step, let conflicts) {
///   show("\(step.actionName) cannot be undone: \(conflicts)")      // the step before it is next
/// } catch UndoError.nothingToDo {
///   show("There is nothing to undo.")
/// }
/// ```
public enum UndoError: Error, Sendable {
  /// There is no step to undo, or to redo.
  case nothingToDo
  /// Other writers have changed all that the step changed since. The step is not in the history any longer.
  case overtaken(UndoStep, [UndoConflict])
  /// The call was made inside a transaction of the store, or in the closure of an update: undoing is a transaction of its own.
  case insideTransaction
}

extension UndoError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .nothingToDo: "there is no step to undo or to redo"
    case .overtaken(let step, let conflicts):
      "\"\(step.actionName)\" cannot be taken back: \(conflicts.map(\.description).joined(separator: "; "))"
    case .insideTransaction: "a step cannot be undone or redone inside a transaction: call it after that"
    }
  }
}

/// The state of a history that menus show; see ``UndoHistory/statuses``.
public struct UndoStatus: Sendable, Hashable {
  /// The name of the step that would be undone next; `nil` if there is none.
  public let undoActionName: String?
  /// The name of the step that would be redone next; `nil` if there is none.
  public let redoActionName: String?

  package init(undoActionName: String?, redoActionName: String?) {
    (self.undoActionName, self.redoActionName) = (undoActionName, redoActionName)
  }

  /// Whether there is a step to undo.
  public var canUndo: Bool { undoActionName != nil }
  /// Whether there is a step to redo.
  public var canRedo: Bool { redoActionName != nil }
}

extension UndoStatus: CustomStringConvertible {
  public var description: String {
    func text(_ name: String?) -> String { name.map { "\"\($0)\"" } ?? "nothing" }
    return "undo: \(text(undoActionName)), redo: \(text(redoActionName))"
  }
}
