#if Inspector
  import Concord
  import ConcordInspector
  import Testing

  // Also among the optimised tests, which are built for release. See Scripts/lib/optimised.sh.
  @Suite("The inspector of a program that is built for release")
  struct ReleaseTests {
    @Test("A program that is built for release has no inspector, unless it says that it wants one")
    func release() async throws {
      let store = EntityStore()
      #if DEBUG
        let usual = try await store.inspect()
        await usual.stop()
      #else
        await #expect(throws: InspectorError.releaseBuild) { try await store.inspect() }
      #endif
      let told = try await store.inspect(inReleaseBuilds: true)
      // There is one, which the store knows of.
      await #expect(throws: InspectorError.alreadyInspected) { try await store.inspect(inReleaseBuilds: true) }
      await told.stop()
    }
  }
#endif
