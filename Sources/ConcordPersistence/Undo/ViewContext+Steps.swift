import Concord
package import ConcordModel

extension ViewContext {
  /// Discards what is kept of some types, whose store is detached, and the steps that have changed entities of these: what another store has of
  /// them is none of theirs.
  package func didDetach(_ types: Set<EntityDescription>) {
    cache.forgetAll(of: types)
    if types.isEmpty || !undoSteps.isUsed { return }
    // After what is being recorded or undone at this moment.
    let isAny = entities.transaction { _ in
      undoSteps.remove { step in
        step.parts.contains { part in part.contains { ($0 as? RowEdit).map { types.contains($0.key.entity) } ?? false }
        }
      }
    }
    if isAny { undoSteps.tell() }
  }
}
