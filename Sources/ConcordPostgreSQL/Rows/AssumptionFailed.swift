#if PostgreSQL
  /// An error if a row was not written of which a writing was told that it is. The transaction had no effect.
  struct AssumptionFailed: Error {}
#endif
