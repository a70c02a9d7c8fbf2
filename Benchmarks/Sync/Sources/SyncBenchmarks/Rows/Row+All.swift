extension Row {
  /// Every row.
  static var all: [Row] { [catchingUp] + clicks + [commitBesideSubscriptions, deviceMemory, deviceLag] }

  private static var clicks: [Row] {
    #if PostgreSQL
      OrderServer.database == nil ? [] : [clickMedian, clickPercentile99]
    #else
      []
    #endif
  }
}
