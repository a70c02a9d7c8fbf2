import Concord
import ConcordConnect
import ConcordPersistence
import ConcordTestShared
import Foundation

// Not Foundation's.
private typealias Progress = ConcordTestShared.Progress

// Processes that are killed while they undo and redo.
extension ConcordTestProcess {
  /// `undo PLACE STRATEGY`: records steps, undoes and redoes them without end. It prints `going N` before the steps up to N are to be
  /// those that are done, `at N` when that is durable, and `wrong` for what must not be.
  static func undo(_ place: String, strategy: String) async throws {
    let model = try processModel()
    let container: any PersistentContainer =
      strategy == "mixed"
      ? GenericPersistentContainer<ContextStrategy.Mixed>(name: "Process", model: model)
      : GenericPersistentContainer<ContextStrategy.Direct>(name: "Process", model: model)
    try container.attachStore(at: place)
    let undo = container.undoManager
    if undo.status.canUndo || undo.status.canRedo || !undo.undoSteps.isEmpty { say("wrong: there is a history") }
    func go(to number: Int, _ body: () throws -> UndoResult?) async throws {
      say("going \(number)")
      if let conflicts = try body()?.conflicts, !conflicts.isEmpty { say("wrong: \(conflicts)") }
      try await container.flush()
      say("at \(number)")
    }
    var number = try container.newBackgroundContext().find(Progress.self, id: 0)?.last ?? 0
    while true {
      number += 1
      try await go(to: number) {
        try undo.record("Step") { try NumberedStep.make(number, in: $0) }
        return nil
      }
      for _ in 0..<3 {
        try await go(to: number - 1) { try undo.undo() }
        try await go(to: number) { try undo.redo() }
      }
    }
  }

  /// `undo-forward PLACE URL TALLIES FIRST SEED`: forwards numbers from a first one on, undoes and redoes them without end. It prints
  /// `going N on` or `going N off` before a number is to count or not to count, and `at N on` or `at N off` when that is durable,
  /// `refused N` if the service has refused it, and `wrong` for what must not be.
  static func undoForwarded(_ place: String, _ url: URL, tallies: Int, first: Int, seed: UInt64) async throws {
    let connect = try tallyConnect(
      at: place, server: url, tallies: tallies, forwarding: [PutNumber.self], dependents: .goOn)
    try await connect.start()
    let undo = connect.outbox.undoManager
    if undo.status.canUndo || undo.status.canRedo { say("wrong: there is a history") }
    var random = SeededNumbers(seed: seed)
    for number in first... {
      func go(_ isOn: Bool, _ body: () async throws -> Void) async throws {
        say("going \(number) \(isOn ? "on" : "off")")
        try await body()
        say("at \(number) \(isOn ? "on" : "off")")
      }
      let tally = Int.random(in: 0..<tallies, using: &random)
      try await go(true) { try await connect.forward(PutNumber(tally: tally, number: number), as: "Put") }
      do {
        for isRedo in [false, true, false, true, false].prefix(Int.random(in: 0...5, using: &random)) {
          // What was sent is taken back by its inverse, and what was not is withdrawn.
          switch Int.random(in: 0..<3, using: &random) {
          case 0: await connect.outbox.idle()
          case 1: try await Task.sleep(for: .microseconds(Int.random(in: 0...3000, using: &random)))
          default: break
          }
          try await go(isRedo) { _ = try await isRedo ? undo.redo() : undo.undo() }
        }
      } catch UndoError.overtaken(_, let conflicts) where conflicts.map(\.reason) == [.refused] {
        say("refused \(number)")
      }
    }
  }
}
