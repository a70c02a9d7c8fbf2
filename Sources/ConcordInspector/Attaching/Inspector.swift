#if Inspector
  public import Concord

  /// A page that shows what is going on inside a store, on this machine only, made with
  /// `EntityStore.inspect(showing:port:inReleaseBuilds:)`.
  ///
  /// It is served as long as the object is retained. The log of transactions keeps the values that they changed, so that what these
  /// own is released later than without an inspector: when 1,000 transactions have followed.
  public final class Inspector: Sendable {
    /// The address of the page, with a token that nobody can guess. Whoever has it sees everything in the store.
    public let url: URL
    private let recorder: Recorder
    private let server: InspectorServer

    fileprivate init(
      _ store: EntityStore, _ parts: [any Inspectable], port: UInt16
    ) async throws(InspectorError) {
      let recorder = Recorder()
      guard recorder.begin(store) else { throw .alreadyInspected }
      do throws(InspectorError) {
        server = try await InspectorServer(StoreReader(store, recorder, parts.map(\._inspected)), port: port)
      } catch {
        recorder.end()
        throw error
      }
      self.recorder = recorder
      url = server.url
    }

    deinit { recorder.end() }

    /// Ends the page, records nothing any longer, and lets go of what was recorded.
    public func stop() async {
      recorder.end()
      await server.stop()
    }
  }

  extension EntityStore {
    /// Serves a page that shows what is going on inside the store, and prints its address to the standard error.
    ///
    /// ```swift
    /// let inspector = try await store.inspect()
    /// ```
    ///
    /// The page is served on the loopback interface, to those who have its address. It shows the observers that are made from now on with
    /// the places in the code where they were made, and the transactions from now on. Recording takes a fiftieth of the time at most: what
    /// follows too closely is left out, and the page says so.
    ///
    /// - Parameters:
    ///   - parts: what is shown beside the store: a ``/ConcordPersistence/ViewContext`` with its live
    ///     queries, a ``/ConcordConnect/Outbox``, a ``/ConcordSync/Sync``. They are not retained.
    ///   - port: the port of the page; any free one, if 0.
    ///   - inReleaseBuilds: whether the page is served also if the program was built for release.
    /// - Returns: the inspector, which serves the page as long as it is retained.
    /// - Throws: ``InspectorError``.
    public func inspect(
      showing parts: any Inspectable..., port: UInt16 = 0, inReleaseBuilds: Bool = false
    ) async throws(InspectorError) -> Inspector {
      #if !DEBUG
        guard inReleaseBuilds else { throw .releaseBuild }
      #endif
      let inspector = try await Inspector(self, parts, port: port)
      // Not the standard output, which may be read by another program.
      try? FileHandle.standardError.write(contentsOf: Data("inspect \(inspector.url)\n".utf8))
      return inspector
    }
  }
#endif
