/// The identity of an entity: its type and its id.
// Unchecked, since `AnyHashable` is not `Sendable`. A stored id is a part of a value that is; one that is computed without being `Sendable`
// is made anew for the inspector, which compares and prints it and changes nothing.
package struct InspectedKey: Hashable, @unchecked Sendable {
  package let type: ObjectIdentifier
  package let id: AnyHashable

  package init(type: ObjectIdentifier, id: AnyHashable) { (self.type, self.id) = (type, id) }
}

/// A transaction as an inspector is told of it, beside its changes.
package struct InspectedCommit: Sendable {
  package let origin: CallOrigin?
  /// The time from the first write, or from the beginning of a closure, until all observers had a notice.
  package let duration: Duration?
  /// The first ones of the receivers that were told.
  package let told: [InspectedReceiver]
  package let toldCount: Int
  /// Whether transactions before it were not recorded, or this one not as a whole.
  package let isAfterGap: Bool
}

/// An observer that was told of a transaction.
package struct InspectedReceiver: Sendable {
  /// The entity; `nil` if the observer follows a query or a combination.
  package let key: InspectedKey?
  package let origin: CallOrigin?
  /// The place where the observer is called, in words.
  package let line: String
}
