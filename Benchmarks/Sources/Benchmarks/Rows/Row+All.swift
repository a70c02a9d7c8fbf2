extension Row {
  /// Every row, in the order of the design's tables.
  static var all: [Row] {
    store + inspected + consistency + files + deletions + retention + aggregates + searches + owners + texts
      + liveQueries
      + actions + outbox + databases
  }

  /// The first table: the store beside plain collections.
  private static var store: [Row] {
    [
      storeNew, storeAgain, storeChanged, find, findAnywhere,
      updateObserved, updateBesideActors, updateOnQueue, updateOnQueueNewest,
      storeAggregate, changeField, updateChild, updateChildObserved,
      updateUser, updateUserAgain, updateUserObserved, buildPosts, buildPostsChanging,
      storeBatch, storeBatchOfAggregates, diamond,
      heapPerEntity, heapPerReleased, heapPerReleasedAtOnce,
      twoThreads, twoThreadsObserved, updateWhileOthersCommit,
    ] + transactions + undo + layers + notices + queries + cycles + relations + value
  }

  /// Those for an inspector, if it is compiled.
  private static var inspected: [Row] {
    #if Inspector
      inspector
    #else
      []
    #endif
  }

  /// Those for a database, if there is one.
  private static var databases: [Row] {
    #if PostgreSQL
      database
    #else
      []
    #endif
  }
}
