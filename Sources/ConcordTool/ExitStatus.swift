#if Tool
  /// The exit codes of the program. Those from 64 on are taken from `sysexits.h`.
  enum ExitStatus: Int32, CaseIterable {
    case done = 0
    case findings = 1
    case damaged = 2
    case notConcord = 3
    case usage = 64
    case wrongInput = 65
    case missing = 66
    case failed = 70
    case readOnly = 73
    case notWritten = 74
    case locked = 75
    case interrupted = 130

    var code: Int32 { rawValue }

    var meaning: String {
      switch self {
      case .done: "done (also if the reader of a pipe closed it early)"
      case .findings: "'check' found something"
      case .damaged: "the file is damaged"
      case .notConcord:
        "the file is not an SQLite file, or not Concord's; the schema of the database has no tables of Concord's"
      case .usage: "the command is wrong: an unknown option, table or column, a condition that cannot be read"
      case .wrongInput: "the lines to be imported are wrong; nothing was imported"
      case .missing: "the file is missing, or cannot be read; there is no connection to the server"
      case .failed: "anything else"
      case .readOnly: "the file or the database cannot be written to"
      case .notWritten: "writing failed: the disk is full, for instance"
      case .locked: "another process holds the file or rows of the database, or a statement took too long; try again"
      case .interrupted: "interrupted with ^C: the file is as before (143 if the process was told to end)"
      }
    }
  }
#endif
