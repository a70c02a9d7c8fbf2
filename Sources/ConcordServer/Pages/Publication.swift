#if Server
  import ConcordSync
  import Foundation

  /// A publication of a server, under its name.
  struct Publication<User: Sendable>: Sendable {
    private let make: @Sendable (User, SyncParameters, Model) throws -> RowPredicate

    init<T: PersistentEntity>(
      of type: T.Type, _ predicate: @escaping @Sendable (User, SyncParameters) throws -> Predicate<T>
    ) {
      make = { user, parameters, model in
        let found: Predicate<T>
        do { found = try predicate(user, parameters) } catch  where !mayPass(error) {
          // Logged, and not told.
          if error is StoreError { throw error }
          throw Refusal(reason: toldReason(error, ofStore: ""))
        }
        return try RowPredicate(found, in: model)
      }
    }

    /// - Throws: ``Refusal``; an error of the closure after which the same may succeed later.
    func predicate(_ user: User, _ parameters: SyncParameters, _ model: Model) throws -> RowPredicate {
      try make(user, parameters, model)
    }

    /// The reason why a subscription is not served.
    struct Refusal: Error { let reason: String }
  }

  /// Whether an error says nothing about what was asked. A row that another program has damaged can be mended.
  func mayPass(_ error: any Error) -> Bool {
    if case StoreError.unreadableColumn = error { return true }
    return error is CancellationError || StoreError.mayPass(error)
  }

  /// The request of a device.
  enum Asked: Sendable {
    case served(RowPredicate, condition: String)
    case refused(String)
    /// The server does not know the publication.
    case unknown

    var predicate: RowPredicate? { if case .served(let predicate, _) = self { predicate } else { nil } }
  }
#endif
