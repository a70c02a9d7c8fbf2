#if Tool
  import ConcordPersistence

  /// The statement that reads and binds values exactly, under another name, since GRDB has a `Statement`, too.
  typealias RowStatement = ConcordPersistence.SQLiteStatement
#endif
