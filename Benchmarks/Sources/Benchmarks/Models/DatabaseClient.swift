#if PostgreSQL
  import ConcordPersistence
  import Foundation

  /// A process of its own that saves volumes into a database, one after the other, whenever it is told to.
  final class DatabaseClient {
    enum Side: String {
      case concord
      case libpq
    }

    private static let variable = "CONCORD_BENCHMARK_CLIENT"
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameters:
    ///   - first: the id of the first volume that it saves.
    ///   - count: how many it saves each time.
    init(_ side: Side, _ database: VolumeDatabase, first: Int, count: Int) throws {
      process.executableURL = URL(filePath: CommandLine.arguments[0])
      var environment = ProcessInfo.processInfo.environment
      environment[Self.variable] = "\(side.rawValue) \(database.schema) \(database.waits) \(first) \(count)"
      (process.environment, process.standardInput, process.standardOutput) = (environment, input, output)
      try process.run()
      try wait()
    }

    deinit {
      try? input.fileHandleForWriting.close()
      process.waitUntilExit()
    }

    /// Lets it save all of its volumes once.
    func begin() { input.fileHandleForWriting.write(Data([1])) }

    /// Returns when it has.
    func wait() throws {
      let answer = output.fileHandleForReading.readData(ofLength: 1)
      try expect(answer.count == 1, "a client has ended")
    }

    /// Does a client's work if this process was started as one.
    static func serveIfAsked() throws -> Bool {
      guard let words = ProcessInfo.processInfo.environment[variable]?.split(separator: " ").map(String.init),
        words.count == 5, let side = Side(rawValue: words[0]), let first = Int(words[3]), let count = Int(words[4])
      else { return false }
      let database = VolumeDatabase(schema: words[1], waits: words[2] == "true")
      let save: (Volume) throws -> Void
      switch side {
      case .concord:
        let context = try database.concord().newBackgroundContext()
        save = { volume in
          context.insert(volume)
          try context.save()
        }
      case .libpq:
        let raw = try database.raw()
        save = { volume in
          try raw.run("BEGIN ISOLATION LEVEL SERIALIZABLE")
          try RawVolume.upsert(volume, raw)
          try raw.run("COMMIT")
        }
      }
      var turn = 0
      FileHandle.standardOutput.write(Data([1]))
      while FileHandle.standardInput.readData(ofLength: 1).count == 1 {
        turn += 1
        for id in first..<first + count { try save(Volume(id: id, turn: turn)) }
        FileHandle.standardOutput.write(Data([1]))
      }
      return true
    }
  }
#endif
