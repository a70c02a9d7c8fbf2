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
    let apply: @Sendable () -> Void
  }

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
  func set(_ entity: EntityDescription, slack: Int, interval: Double?, _ apply: @escaping @Sendable () -> Void) {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.rules[entity] = Rule(number: state.lastNumber, slack: slack, apply: apply)
      return state.lastNumber
    }
    if let interval { applyAgain(entity, number, interval) }
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
          (rule.writes, rule.isEnqueued) = (0, true)
          due.append(key.entity)
        }
        state.rules[key.entity] = rule
      }
      return due
    }
    for entity in due { queue.async { [weak self] in self?.apply(entity) } }
  }

  private func apply(_ entity: EntityDescription) {
    let apply = state.withLock { state in
      state.rules[entity]?.isEnqueued = false
      return state.rules[entity]?.apply
    }
    apply?()
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
