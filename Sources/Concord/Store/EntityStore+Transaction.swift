extension EntityStore {
  /// Makes several changes one: seen whole or not at all.
  ///
  /// ```swift
  /// try store.transaction { tx in
  ///   tx.update(Account.self, id: from) { $0.balance -= 10 }
  ///   tx.update(Account.self, id: to) { $0.balance += 10 }
  /// }
  /// ```
  ///
  /// All that this thread does to the store meanwhile is a part of the transaction, and so is all that is done through `tx`, on
  /// whatever thread. It reads its own writes; other threads wait to write, and read what was last committed. Observers are
  /// called afterwards, once each. If `body` throws, everything is as it was before. Transactions nest; an inner one that throws
  /// undoes itself alone. What nobody keeps is released at the end of the outermost. Afterwards `tx` is the store itself.
  ///
  /// Do not wait in `body` for a thread that writes without `tx`: both wait for ever. Such a thread says so after 5 seconds, see
  /// ``EntityStoreLogger/didStall(for:)``.
  ///
  /// - Parameters:
  ///   - context: who writes, for those who follow ``changes``; the outermost transaction's counts.
  ///   - body: makes the changes, through the store that it is handed.
  /// - Complexity: what `body` does.
  @discardableResult
  public func transaction<R>(
    context: TransactionContext? = nil, _ body: (EntityStore) throws -> R
  ) rethrows -> R {
    try transaction(context: context, origin: nil, body)
  }

  /// The same, marked so that a part of the package recognises its own writes.
  @discardableResult
  package func transaction<R>(
    context: TransactionContext?, origin: ObjectIdentifier?, _ body: (EntityStore) throws -> R
  ) rethrows -> R {
    try signposted {
      try shared.transaction(token, context: context, origin: origin) { try body(EntityStore(shared, token: $0)) }
    }
  }
}
