extension EntityStore {
  /// Runs a closure as one transaction, whose changes are visible as a whole or not at all.
  ///
  /// ```swift
  /// try store.transaction { tx in
  ///   tx.update(Account.self, id: from) { $0.balance -= 10 }
  ///   tx.update(Account.self, id: to) { $0.balance += 10 }
  /// }
  /// ```
  ///
  /// Everything that this thread does to the store in `body` is a part of the transaction, and so is everything done through
  /// `tx`, on any thread. The transaction reads its own writes; other threads wait to write, and read the last committed
  /// state. Observers are called afterwards, once each. If `body` throws, all changes are undone. Transactions nest; an inner
  /// one that throws undoes only itself. Entities that nothing retains are released at the end of the outermost. After the
  /// transaction `tx` is the store itself.
  ///
  /// Do not wait in `body` for a thread that writes without `tx`: both would wait for ever. Such a thread reports that after 5
  /// seconds, see ``EntityStoreLogger/didStall(for:)``.
  ///
  /// - Parameters:
  ///   - context: the name of the writer in ``changes``; that of the outermost transaction counts.
  ///   - file: the file of the call, which the compiler passes, and an inspector shows.
  ///   - line: the line of the call.
  ///   - body: a closure that makes the changes, through the store that it receives.
  /// - Complexity: what `body` does.
  @discardableResult
  public func transaction<R>(
    context: TransactionContext? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ body: (EntityStore) throws -> R
  ) rethrows -> R {
    try transaction(context: context, origin: nil, at: CallSite(file, line), body)
  }

  /// Runs a closure as one transaction with a mark, by which a part of the package recognises its own writes.
  @discardableResult
  package func transaction<R>(
    context: TransactionContext?, origin: ObjectIdentifier?, at site: CallSite? = nil,
    _ body: (EntityStore) throws -> R
  ) rethrows -> R {
    try signposted {
      try shared.transaction(token, context: context, origin: origin, at: site) {
        try body(EntityStore(shared, token: $0))
      }
    }
  }
}
