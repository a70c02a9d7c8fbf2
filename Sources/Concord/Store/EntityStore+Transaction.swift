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
  /// `tx` is the store: all that this thread does to the store meanwhile is a part of the transaction. It reads its own
  /// writes; other threads wait to write, and read what was last committed. Observers are called afterwards, once each. If
  /// `body` throws, everything is as it was before. Transactions nest; an inner one that throws undoes itself alone.
  /// What nobody keeps is released at the end of the outermost.
  @discardableResult
  @inlinable public func transaction<R>(_ body: (EntityStore) throws -> R) rethrows -> R {
    try engine.transaction { try body(self) }
  }
}
