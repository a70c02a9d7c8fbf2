/// Why a write, or a part of it, was refused.
public enum RefusalReason: Sendable, Hashable {
  /// A relation leads from an entity to that entity itself, as `\.self` does. It is left out.
  case relationToItself
  /// A closure edited a relation that was not shown, because it leads back into a cycle. The rest of the edit is taken.
  case hiddenRelation
}
