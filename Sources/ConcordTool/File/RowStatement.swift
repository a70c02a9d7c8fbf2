#if Tool
  import ConcordPersistence

  /// What reads and binds values to the bit. GRDB uses its name for something else.
  typealias RowStatement = ConcordPersistence.SQLiteStatement
#endif
