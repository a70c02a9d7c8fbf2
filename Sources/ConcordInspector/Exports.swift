#if Inspector
  @_exported public import Concord
#endif
