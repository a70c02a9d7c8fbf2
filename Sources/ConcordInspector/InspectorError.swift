#if Inspector
  /// An error of attaching an inspector.
  public enum InspectorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The program was built for release, and was not told to serve an inspector all the same.
    case releaseBuild
    /// Another inspector is attached to the store.
    case alreadyInspected
    /// The page cannot be served. The text is for people.
    case unavailable(String)

    public var description: String {
      switch self {
      case .releaseBuild: "a release build is inspected only if inspect(inReleaseBuilds: true) says so"
      case .alreadyInspected: "the store is inspected already"
      case .unavailable(let reason): reason
      }
    }
  }
#endif
