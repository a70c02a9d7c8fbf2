#if Macros
  /// Excludes a property of a `@PersistentEntity` from its row. The property needs an initial value, which every value read
  /// from a store has.
  ///
  /// ```swift
  /// @Transient var isSelected = false
  /// ```
  ///
  /// An entity store shows the property like any other, until the entity is read again.
  @attached(peer)
  public macro Transient() = #externalMacro(module: "ConcordMacrosPlugin", type: "TransientMacro")
#endif
