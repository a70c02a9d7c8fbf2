#if canImport(os)
  import os

  private let signposter = OSSignposter(subsystem: "Concord", category: "Transactions")

  /// Runs a transaction as an interval that Instruments shows. Costs a check of a flag while nobody looks.
  func signposted<R>(_ body: () throws -> R) rethrows -> R {
    guard signposter.isEnabled else { return try body() }
    let interval = signposter.beginInterval("Transaction", id: signposter.makeSignpostID())
    defer { signposter.endInterval("Transaction", interval) }
    return try body()
  }
#else
  /// Signposts are Apple's.
  func signposted<R>(_ body: () throws -> R) rethrows -> R { try body() }
#endif
