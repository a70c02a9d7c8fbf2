#if PostgreSQL
  /// An error of a program without the model.
  package struct InspectionError: Error {
    package enum Kind {
      /// There is no connection, or it was lost.
      case unreachable
      /// The schema has no tables of Concord's.
      case notConcord
      /// The role may not do what was asked for.
      case forbidden
      /// Rows cannot be kept.
      case wrongRow
      /// Another transaction holds a lock that the operation needs.
      case locked
      /// A statement was cancelled, or took too long.
      case ended
      case diskFull
      case failed
    }

    package let kind: Kind
    package let message: String
    /// The line of the row that cannot be kept.
    package var line: Int?

    package init(_ kind: Kind, _ message: String, line: Int? = nil) {
      (self.kind, self.message, self.line) = (kind, message, line)
    }

    init(_ failure: PostgreSQLFailure) {
      let detail = failure.detail.map { ": \($0)" } ?? ""
      switch failure.code {
      case "" where failure.isUnreachable: self.init(.unreachable, failure.message)
      case "": self.init(.unreachable, "the connection to \(failure.place) was lost: \(failure.message)")
      case "42501": self.init(.forbidden, failure.message)
      case "40001", "40P01", "55P03": self.init(.locked, failure.message)
      case "57014": self.init(.ended, failure.message)
      case "53100": self.init(.diskFull, failure.message)
      case let code where code.hasPrefix("22") || code.hasPrefix("23") || code.hasPrefix("54"):
        self.init(.wrongRow, failure.message + detail)
      default: self.init(.failed, "\(failure.message) (SQLSTATE \(failure.code))")
      }
    }

    static func translating<R>(_ body: () throws -> R) throws -> R {
      do { return try body() } catch let failure as PostgreSQLFailure { throw InspectionError(failure) }
    }
  }
#endif
