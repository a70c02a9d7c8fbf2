import Concord
import ConcordModel
import Dispatch

/// The rules by which a coordinator purges its stores again and again, as entities are written.
final class RetentionRules: Sendable {
  private struct Rule: Sendable {
    let number: Int
    /// The number of writes after which the rule is applied.
    let slack: Int
    var writes = 0
    var isEnqueued = false
    /// The number of times that the rule was applied.
    var applications = 0
    /// The seconds after which it is looked at again what it has left because that was not saved.
    var pause = RetentionRules.leastPause
    let apply: Application
  }

  /// Applies a rule, and returns whether something that it has left, because it was not saved, is saved by the time of the call; `nil` if it has
  /// left nothing for that reason. A save is told here while its context still has the changes, so that they may be among these.
  typealias Application = @Sendable () -> (@Sendable () -> Bool)?

  private static let (leastPause, greatestPause) = (0.05, 10.0)

  private struct State: Sendable {
    var rules: [EntityDescription: Rule] = [:]
    var lastNumber = 0
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "concord.retention", qos: .utility)

  /// Sets the rule of a type.
  ///
  /// - Parameters:
  ///   - slack: the number of writes to entities of the type after which the rule is applied.
  ///   - interval: the time in seconds after which it is applied in any case; `nil` if only writes change what it says.
  ///   - dueAgain: what its first application has returned.
  func set(
    _ entity: EntityDescription, slack: Int, interval: Double?, dueAgain: (@Sendable () -> Bool)?,
    _ apply: @escaping Application
  ) {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.rules[entity] = Rule(number: state.lastNumber, slack: slack, apply: apply)
      return state.lastNumber
    }
    if let interval { applyAgain(entity, number, interval) }
    didApply(entity, number, dueAgain)
  }

  func remove(_ entity: EntityDescription) { state.withLock { $0.rules[entity] = nil } }

  /// Notes a commit.
  func didWrite(_ keys: [EntityKey]) {
    let due = state.withLock { state -> [EntityDescription] in
      if state.rules.isEmpty { return [] }
      var due: [EntityDescription] = []
      for key in keys {
        guard var rule = state.rules[key.entity] else { continue }
        rule.writes += 1
        if rule.writes > rule.slack, !rule.isEnqueued {
          rule.isEnqueued = true
          due.append(key.entity)
        }
        state.rules[key.entity] = rule
      }
      return due
    }
    for entity in due { queue.async { [weak self] in self?.apply(entity) } }
  }

  private func apply(_ entity: EntityDescription) {
    let rule = state.withLock { state in
      // What is written until here is looked at.
      state.rules[entity]?.isEnqueued = false
      state.rules[entity]?.writes = 0
      state.rules[entity]?.applications += 1
      return state.rules[entity]
    }
    if let rule { didApply(entity, rule.number, rule.apply()) }
  }

  /// Applies a rule again when something of what it has left is saved, unless it is applied before.
  private func didApply(_ entity: EntityDescription, _ number: Int, _ isDue: (@Sendable () -> Bool)?) {
    let next = state.withLock { state -> (applications: Int, pause: Double)? in
      guard let rule = state.rules[entity], rule.number == number else { return nil }
      // Where there always is something that is not saved, it is looked for less and less often.
      state.rules[entity]?.pause = isDue == nil ? Self.leastPause : min(2 * rule.pause, Self.greatestPause)
      return (rule.applications, rule.pause)
    }
    guard let isDue, let next else { return }
    queue.asyncAfter(deadline: .now() + next.pause) { [weak self] in
      guard let self,
        state.withLock({
          $0.rules[entity].map { $0.number == number && $0.applications == next.applications } ?? false
        })
      else { return }
      if isDue() { apply(entity) } else { didApply(entity, number, isDue) }
    }
  }

  private func applyAgain(_ entity: EntityDescription, _ number: Int, _ interval: Double) {
    queue.asyncAfter(deadline: .now() + interval) { [weak self] in
      guard let self, state.withLock({ $0.rules[entity]?.number == number }) else { return }
      apply(entity)
      applyAgain(entity, number, interval)
    }
  }

  /// Returns when all that is due has been applied, for tests.
  func settle() { queue.sync {} }
}
