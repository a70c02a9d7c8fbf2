#if Server
  import Logging

  /// Keeps what is logged.
  struct KeptLines: LogHandler {
    let lines: Kept<[[String: String]]>
    var logLevel = Logger.Level.trace
    var metadata = Logger.Metadata()
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) {
      var line = (event.metadata ?? [:]).mapValues { "\($0)" }
      (line["message"], line["level"]) = ("\(event.message)", "\(event.level)")
      lines.withLock { [line] in $0.append(line) }
    }
  }
#endif
