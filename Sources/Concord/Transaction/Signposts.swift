#if canImport(os)
  import os

  private let signposter = OSSignposter(subsystem: "Concord", category: "Transactions")

  /// Runs a transaction as an interval that Instruments shows. Costs the check of a flag while Instruments does not record.
  func signposted<R>(_ body: () throws -> R) rethrows -> R {
    guard signposter.isEnabled else { return try body() }
    let interval = signposter.beginInterval("Transaction", id: signposter.makeSignpostID())
    defer { signposter.endInterval("Transaction", interval) }
    return try body()
  }
#else
  /// Runs a transaction. Signposts exist on Apple platforms only.
  func signposted<R>(_ body: () throws -> R) rethrows -> R { try body() }
#endif
