#if Server
  @_exported public import ConcordSync
#endif
