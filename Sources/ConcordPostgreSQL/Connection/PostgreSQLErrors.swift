#if PostgreSQL
  import ConcordModel

  extension StoreError {
    /// Translates what libpq or the server says. Other errors, those of users' code too, stay as they are.
    static func translating<R>(store: String, _ body: () throws -> R) throws -> R {
      do { return try body() } catch let failure as PostgreSQLFailure {
        throw failure.error(in: store)
      }
    }

    init(_ failure: PostgreSQLFailure, store: String) {
      let (message, place) = (failure.message, failure.place)
      switch failure.code {
      case "" where failure.isUnreachable:
        self = .storeFailed(store: store, reason: "no connection: \(message)")
      case "":
        self = .storeFailed(store: store, reason: "the connection to \(place) was lost: \(message)")
      case "53100": self = .diskFull(store: store)
      case "55P03": self = .locked(store: store)
      case "40001", "40P01": self = .locked(store: store)
      case "57014":
        self = .storeFailed(store: store, reason: "\(place) has ended a statement that took too long: \(message)")
      case "XX001", "XX002": self = .damagedStore(store: store, reason: message)
      case "23505": self = .notUnique(entity: failure.table ?? "", columns: failure.constraintColumn)
      // A column is missing, has another type, or one that this program does not know wants a value: another program has migrated.
      case "42703", "42804", "0A000", "23502": self = .newerStore(store: store)
      // Unlike a right that is missing, this is about the values.
      case "42501" where failure.isRefusedByPolicy: self = .refused(store: store, reason: message)
      case "23503": self = .refused(store: store, reason: message)
      case let code where code.hasPrefix("22") || code.hasPrefix("23") || code.hasPrefix("54") || code == "P0001":
        self = .refused(store: store, reason: message)
      default:
        self = .storeFailed(store: store, reason: "\(message) (\(place), SQLSTATE \(failure.code))")
      }
    }
  }

  extension PostgreSQLFailure {
    /// The column of an index that was made for one.
    fileprivate var constraintColumn: String {
      guard let constraint, let table, constraint.hasPrefix("\(table).") else { return constraint ?? "" }
      return String(constraint.dropFirst(table.count + 1))
    }
  }
#endif
