#if Server
  import ConcordShiftedClock
  import Foundation

  extension ClockReading {
    /// The clock of this process.
    init() { self.init(offset: concord_clock_offset(), date: Date().timeIntervalSince1970) }
  }

  /// The processes of the fault test, which it starts and kills.
  @main
  enum SyncProcess {
    static func main() async throws {
      let arguments = CommandLine.arguments.dropFirst()
      // It ends with what has started it, however that ends.
      let parent = getppid()
      Thread.detachNewThread {
        while getppid() == parent { sleep(1) }; exit(1)
      }
      switch arguments.first {
      case "serve" where arguments.count == 3:
        try await serve(arguments[2], port: Int(arguments[3]) ?? 0)
      case "device" where arguments.count == 6:
        try await DeviceProcess(
          url: arguments[2], folder: URL(filePath: arguments[3]), user: Int(arguments[4]) ?? 1,
          actions: Int(arguments[5]) ?? 0, seed: UInt64(arguments[6]) ?? 0
        ).run()
      default:
        print("serve STORE PORT | device URL FOLDER USER ACTIONS SEED")
        exit(64)
      }
    }
  }
#endif
