import ConcordConsistency
import Synchronization

/// A screen that owns its objects and follows those that others push, on any thread.
final class Owner<Video: OwnedVideo>: ConsistentEnvironment, Sendable {
  private let state: Mutex<(videos: [Video], updates: Int)>

  init(_ videos: [Video]) { state = Mutex((videos, 0)) }

  var videos: [Video] { state.withLock { $0.videos } }
  var updates: Int { state.withLock { $0.updates } }

  var objects: [any ConsistentObject] { videos }

  func showObjects(to look: inout ConsistentLook) { look.look(into: videos) }

  func update(with object: any ConsistentObject) {
    let updated = videos.updated(with: object)
    state.withLock {
      $0.videos = updated
      $0.updates += 1
    }
  }
}
