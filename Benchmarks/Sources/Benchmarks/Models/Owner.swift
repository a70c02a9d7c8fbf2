import ConcordConsistency

/// A screen that owns its objects and follows those that others push.
// Unchecked because all that is measured is called on one thread.
final class Owner<Video: OwnedVideo>: ConsistentEnvironment, @unchecked Sendable {
  private(set) var videos: [Video]
  private(set) var updates = 0

  init(_ videos: [Video]) { self.videos = videos }

  var objects: [any ConsistentObject] { videos }

  func showObjects(to look: inout ConsistentLook) { look.look(into: videos) }

  func update(with object: any ConsistentObject) {
    videos = videos.updated(with: object)
    updates += 1
  }
}
