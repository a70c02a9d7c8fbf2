#if Server
  import ConcordServer
  import Foundation
  import Hummingbird
  import Logging

  #if PostgreSQL
    import ConcordPostgreSQL
  #endif

  extension SyncProcess {
    /// Serves the store at a place, a folder or `postgresql://…#schema`, until it is ended.
    static func serve(_ place: String, port: Int) async throws {
      let container = ServerContainer(name: "Shop", model: try shopModel())
      while true {
        // A database may be recovering from a crash.
        do { try attach(container, at: place) } catch {
          try FileHandle.standardError.write(contentsOf: Data("\(error)\n".utf8))
          try await Task.sleep(for: .milliseconds(100))
          continue
        }
        break
      }
      var limits = SyncLimits()
      limits.hidesPositions = ProcessInfo.processInfo.environment["CONCORD_FAULT_OPEN"] == nil
      limits.wait = .seconds(2)
      // It soon forgets the rows as they were.
      if let changes = ProcessInfo.processInfo.environment["CONCORD_FAULT_FEED"].flatMap(Int.init) {
        limits.feed = FeedLimits(changes: changes, rows: 1000)
      }
      let service = shopService(container, limits)
      let router = Router()
      service.addRoutes(to: router, path: "sync")
      var logger = Logger(label: "server")
      logger.logLevel = .error
      let app = Application(
        router: router, server: .http1(configuration: .init(additionalChannelHandlers: service.channelHandlers())),
        configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)), services: [service],
        logger: logger)
      try await app.runService()
    }

    private static func attach(_ container: ServerContainer, at place: String) throws {
      #if PostgreSQL
        let parts = place.split(separator: "#", maxSplits: 1).map(String.init)
        if parts.count == 2 {
          try container.attachPersistentStore(
            for: StoreConfiguration(
              type: .postgreSQL,
              options: [ConcordPostgreSQLOption: parts[0], ConcordPostgreSQLSchemaOption: parts[1]]))
          return
        }
      #endif
      try container.attachPersistentStore(at: URL(filePath: place), for: StoreConfiguration(type: .sqlite))
    }
  }
#endif
