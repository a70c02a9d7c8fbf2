#if Inspector
  import Concord
  import Foundation

  /// A transaction that was recorded.
  struct LoggedTransaction: Sendable {
    let number: Int
    let date: Date
    let context: String?
    let changes: [ChangeSet.Change]
    let commit: InspectedCommit?
    /// Whether transactions before it were not recorded, or this one not as a whole.
    var isAfterGap: Bool { commit?.isAfterGap ?? true }
  }

  extension ChangeSet.Change {
    var key: InspectedKey { InspectedKey(type: ObjectIdentifier(type), id: id) }
  }
#endif
