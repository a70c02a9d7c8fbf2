import ConcordConsistency
import Foundation
import Synchronization
import Testing

@Suite("A value that is not taken is reported", .serialized)
struct ProblemTests {
  private func problems(_ body: () -> Void) -> [ConsistencyProblem] {
    let problems = Mutex<[ConsistencyProblem]>([])
    let ours = Set(["Stubborn", "Box", "Envelope"])
    let handler: @Sendable (ConsistencyProblem) -> Void = { problem in
      guard case .valueNotTaken(let type, _, _, _) = problem else { return }
      if ours.contains(where: { type.contains($0) }) { problems.withLock { $0.append(problem) } }
    }
    withHandler(handler, body)
    return problems.withLock { $0 }
  }

  private func withHandler(_ handler: @escaping @Sendable (ConsistencyProblem) -> Void, _ body: () -> Void) {
    ConsistencyManager.onProblem = handler
    defer { ConsistencyManager.onProblem = nil }
    body()
  }

  @Test("An object that ignores a property")
  func ignored() {
    let reported = problems {
      let object = Stubborn(id: "s", user: User("1", "Ada"))
      #expect(object.updated(with: User("1", "Ada L.")).user.name == "Ada")
    }
    #expect(reported.count == 1)
    guard case .valueNotTaken(let type, "s"?, "user", let value)? = reported.first else {
      Issue.record("\(reported)")
      return
    }
    #expect(type.contains("Stubborn"))
    #expect(value.contains("User"))
  }

  @Test("An object that ignores an array or an object with equal ids but other fields inside")
  func ignoredArray() {
    let reported = problems {
      let user = User("1", "Ada", badge: Badge(id: "b", title: "Silver"))
      _ = Stubborn(id: "s", user: User("2", ""), users: [user]).updated(with: Badge(id: "b", title: "Gold"))
    }
    #expect(reported.count == 1)
  }

  @Test("Without a handler it is written to standard error, once for each type and property")
  func withoutHandler() {
    let written = Pipe()
    let standardError = dup(STDERR_FILENO)
    dup2(written.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
    for id in ["a", "b", "c"] { _ = Silent(id: id, user: User("1", "Ada")).updated(with: User("1", "Ada L.")) }
    dup2(standardError, STDERR_FILENO)
    close(standardError)
    try? written.fileHandleForWriting.close()
    let lines = String(decoding: written.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(
      separator: "\n")
    #expect(lines.filter { $0.contains("Silent") }.count == 1)
    #expect(lines.contains { $0.contains("did not take a value of type ConcordConsistencyTests.User") })
  }

  @Test("What others around it take is merged")
  func others() {
    let reported = problems {
      let box = Box(id: "b", stubborn: Stubborn(id: "s", user: User("1", "Ada")), user: User("1", "Ada"))
      #expect(box.updated(with: User("1", "Ada L.")).user.name == "Ada L.")
    }
    #expect(reported.count == 1)
  }

  @Test("A wrapper that ignores a property, without an id")
  func wrapper() {
    let reported = problems {
      _ = Envelope(user: User("1", "Ada")).updated(with: User("1", "Ada L."))
    }
    guard case .valueNotTaken(_, nil, "user", _)? = reported.first else {
      Issue.record("\(reported)")
      return
    }
  }

  @Test("Values that are taken are not reported")
  func taken() {
    let reported = Mutex(0)
    withHandler({ problem in if "\(problem)".contains("Video") { reported.withLock { $0 += 1 } } }) {
      let user = User("1", "Ada", badge: Badge(id: "b", title: "Silver"))
      let video = Video("v", "Film", user: user, likers: [user], byCity: ["Paris": [user], "Rome": [user]])
      _ = video.updated(with: Badge(id: "b", title: "Gold"))
      _ = video.updated(with: User("1", "Ada L."))
    }
    #expect(reported.withLock { $0 } == 0)
  }
}

private struct Stubborn: ConsistentObject {
  let id: String
  var user: User
  var users: [User] = []

  var properties: [Property] { [("user", user), ("users", users)] }
  func setting(property: Property) -> Stubborn { self }
}

/// Not among those that the other tests wait for.
private struct Silent: ConsistentObject {
  let id: String
  var user: User
  var properties: [Property] { [("user", user)] }
  func setting(property: Property) -> Silent { self }
}

private struct Box: ConsistentObject {
  let id: String
  var stubborn: Stubborn
  var user: User

  var properties: [Property] { [("stubborn", stubborn), ("user", user)] }

  func setting(property: Property) -> Box {
    var copy = self
    if let value = property.value as? Stubborn { copy.stubborn = value }
    if let value = property.value as? User { copy.user = value }
    return copy
  }
}

private struct Envelope: ConsistentWrapper {
  var user: User
  var properties: [Property] { [("user", user)] }
  func setting(property: Property) -> Envelope { self }
}
