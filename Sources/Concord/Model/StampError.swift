/// The error that ``EntityStoreLogger/didFailedToStore(_:id:error:)`` receives, under CohesionKit's name.
public enum StampError: Error, Hashable {
  /// The stamp is not newer than the stored one.
  case tooOld(current: Stamp, received: Stamp)
}
