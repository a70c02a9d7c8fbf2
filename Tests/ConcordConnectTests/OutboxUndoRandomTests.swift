import Concord
import ConcordTestShared
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

/// Forwards, undoes and redoes at random, while a service fails and refuses, and compares what the service has in the end with what a
/// naive model has: the steps that were done and not undone, one after the other.
@Suite("Random undo of what was forwarded")
struct OutboxUndoRandomTests {
  private static let stepsInAWorld = 40

  @Test(
    "The service has what is done and not undone, and what others did since, whatever fails and is refused",
    arguments: StoreKind.allCases)
  func agreesWithModel(_ kind: StoreKind) async throws {
    let steps = kind.share(of: TestOptions.steps.map { $0 / 5 } ?? (TestOptions.isLong ? 40_000 : 400))
    for seed in TestOptions.seeds(steps / Self.stepsInAWorld, from: .random(in: 0..<1_000_000)) {
      if let failure = try await run(kind, seed) {
        Issue.record("CONCORD_RANDOM_SEED=\(seed), \(kind): \(failure)")
        return
      }
    }
  }

  private func run(_ kind: StoreKind, _ seed: UInt64) async throws -> String? {
    let service = Service(seed: seed)
    let transport = ScriptedTransport { try service.answer($0) }
    var random = SeededNumbers(seed: seed &* 31)
    let policy = OutboxPolicy(
      dependents: Bool.random(using: &random) ? .hold : .goOn, backoff: Backoff(base: .zero, cap: .zero))
    return try await withOutbox(kind, transport, policy: policy) { connect in
      connect.outbox.register(Shelve.self, Retitle.self)
      _ = try await eventually { connect.outbox.isSender }
      var world = World(connect: connect, random: random)
      for step in 0..<Self.stepsInAWorld {
        try await world.step()
        if let failure = world.failure(service, isDrained: false) {
          return "step \(step): \(failure)\n\(world.log.joined(separator: "\n"))"
        }
      }
      try await world.drain()
      return world.failure(service, isDrained: true).map { "at the end: \($0)\n\(world.log.joined(separator: "\n"))" }
    }
  }
}

/// Keeps titles and shelves, knows requests by their keys, refuses what adds 13, and fails now and then before or after it.
private final class Service: Sendable {
  private let state: Locked<State>
  private struct State {
    var random: SeededNumbers
    var answers: [String: Int] = [:]
    var titles: [Int: String] = [:]
    var shelves: [Int: Int] = [:]
  }

  init(seed: UInt64) { state = Locked(State(random: SeededNumbers(seed: seed))) }

  var titles: [Int: String] { state.withLock { $0.titles } }
  var shelves: [Int: Int] { state.withLock { $0.shelves } }

  func answer(_ request: TransportRequest) throws -> TransportResponse {
    try state.withLock { state in
      let fate = Int.random(in: 0..<10, using: &state.random)
      if fate == 0 { throw TransportError.unreachable(reason: "before") }
      let key = request.headers["Idempotency-Key"] ?? ""
      let body = String(decoding: request.body ?? Data(), as: UTF8.self)
      let status =
        state.answers[key]
        ?? {
          let book = request.path.split(separator: "/").compactMap { Int($0) }.first ?? 0
          if request.method == "PUT" {
            state.titles[book] = body
          } else {
            let count = Int(body) ?? 0
            if count == 13 { return 422 }
            state.shelves[book, default: 0] += count
          }
          return 204
        }()
      state.answers[key] = status
      if fate == 1 { throw TransportError.timedOut }
      return TransportResponse(status: status)
    }
  }
}

/// Somebody who forwards, undoes and redoes, and the naive model.
private struct World {
  let connect: TestConnect
  var random: SeededNumbers
  var log: [String] = []

  /// What a step does to a book.
  enum Change: Equatable {
    case shelve(Int)
    case retitle(before: String, after: String)
  }
  struct Step { let book: Int, changes: [Change], name: String }

  var (undo, redo) = ([Step](), [Step]())
  var (titles, shelves) = ([Int: String](), [Int: Int]())
  var letters = 0

  init(connect: TestConnect, random: SeededNumbers) { (self.connect, self.random) = (connect, random) }

  mutating func step() async throws {
    let book = Int.random(in: 1...3, using: &random)
    switch Int.random(in: 0..<20, using: &random) {
    case 0...4: try await forward(.shelve([1, 2, 5, 13].randomElement(using: &random) ?? 1), book)
    case 5...8: try await forward(.retitle(before: titles[book] ?? "", after: letter()), book)
    case 9:
      let title = letter()
      log.append("others: \(book) \(title)")
      try await connect.forward(Retitle(book: book, title: title))
      titles[book] = title
    case 10...13: try await revert(isRedo: false)
    case 14...16: try await revert(isRedo: true)
    case 17: connect.suspended.toggle()
    case 18: for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
    default: if let letter = connect.outbox.deadLetters.first { connect.outbox.drop(letter) }
    }
  }

  private mutating func letter() -> String {
    letters += 1
    return "t\(letters)"
  }

  private mutating func forward(_ change: Change, _ book: Int) async throws {
    // Sometimes as one more letter that is typed.
    let group = Int.random(in: 0..<3, using: &random) == 0 ? book : nil
    let name = group == nil ? "step" : "typing"
    log.append("\(name) \(book): \(change)")
    switch change {
    case .shelve(let count): try await connect.forward(Shelve(book: book, count: count), as: name, joining: group)
    case .retitle(_, let after): try await connect.forward(Retitle(book: book, title: after), as: name, joining: group)
    }
    apply(change, book)
    redo = []
    if group != nil, let last = undo.last, last.name == "typing \(book)" {
      undo[undo.count - 1] = Step(book: book, changes: last.changes + [change], name: last.name)
    } else {
      undo.append(Step(book: book, changes: [change], name: group == nil ? name : "typing \(book)"))
    }
  }

  private mutating func apply(_ change: Change, _ book: Int) {
    switch change {
    // What the service refuses counts for nothing in the end.
    case .shelve(let count): if abs(count) != 13 { shelves[book, default: 0] += count }
    case .retitle(_, let after): titles[book] = after
    }
  }

  private mutating func revert(isRedo: Bool) async throws {
    let manager = connect.outbox.undoManager
    guard let step = isRedo ? redo.popLast() : undo.popLast() else {
      log.append("nothing to \(isRedo ? "redo" : "undo")")
      do {
        _ = try await isRedo ? manager.redo() : manager.undo()
        throw Failure(text: "there was something to do")
      } catch UndoError.nothingToDo { return }
    }
    log.append("\(isRedo ? "redo" : "undo") \(step)")
    var conflicts: [UndoConflict] = []
    do { conflicts = try await (isRedo ? manager.redo() : manager.undo()).conflicts } catch UndoError.overtaken(
      _, let all)
    {
      conflicts = all
    }
    var left = conflicts.map(\.reason)
    var done: [Change] = []
    for change in step.changes.reversed() {
      switch change {
      case .shelve(let count):
        // Refused by now, or to be refused: for nothing.
        if abs(count) == 13, let place = left.firstIndex(of: .refused) {
          left.remove(at: place)
          continue
        }
        apply(.shelve(-count), step.book)
        done.append(.shelve(-count))
      case .retitle(let before, let after):
        let present = titles[step.book] ?? ""
        // Done again or undone, only what it had found or set is replaced.
        if present != after {
          guard let place = left.firstIndex(of: .doesNotApply("the title is '\(present)' by now")) else {
            throw Failure(text: "\(change) was \(isRedo ? "redone" : "undone") over \(present)")
          }
          left.remove(at: place)
          continue
        }
        apply(.retitle(before: present, after: before), step.book)
        done.append(.retitle(before: present, after: before))
      }
    }
    if !left.isEmpty { throw Failure(text: "unexpected conflicts: \(left)") }
    if done.isEmpty { return }
    let inverse = Step(book: step.book, changes: done, name: "done")
    if isRedo { undo.append(inverse) } else { redo.append(inverse) }
  }

  func drain() async throws {
    connect.suspended = false
    while true {
      await connect.outbox.idle()
      let letters = connect.outbox.deadLetters
      for letter in letters { connect.outbox.drop(letter) }
      if letters.isEmpty, connect.outbox.pending.isEmpty { return }
    }
  }

  func failure(_ service: Service, isDrained: Bool) -> String? {
    let manager = connect.outbox.undoManager
    if manager.undoSteps.map(\.size) != undo.map(\.changes.count) {
      return "\(manager.undoSteps.map(\.size)) can be undone instead of \(undo.map(\.changes.count))"
    }
    if manager.redoSteps.map(\.size) != redo.map(\.changes.count) {
      return "\(manager.redoSteps.map(\.size)) can be redone instead of \(redo.map(\.changes.count))"
    }
    for book in 1...3 {
      let title = titles[book] ?? ""
      let shown = try? connect.shown(book)
      if shown?.title != title { return "\(book) is shown as \(shown?.title ?? "-") instead of \(title)" }
      guard isDrained else { continue }
      let shelf = shelves[book] ?? 0
      if (service.titles[book] ?? "") != title {
        return "\(book) is \(service.titles[book] ?? "") there, and not \(title)"
      }
      if (service.shelves[book] ?? 0) != shelf {
        return "\(book) is on \(service.shelves[book] ?? 0) there, and not on \(shelf)"
      }
      let kept = try? connect.kept(book)
      if kept?.title != title || kept?.shelf != shelf || shown?.shelf != shelf {
        return "\(book) is kept as \(String(describing: kept)), and not with \(title) on \(shelf)"
      }
    }
    return nil
  }
}
