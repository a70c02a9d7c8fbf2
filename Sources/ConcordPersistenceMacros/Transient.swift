#if Macros
  /// Keeps a property of a `@PersistentEntity` out of its row. It needs an initial value, which every value has that is read.
  ///
  /// ```swift
  /// @Transient var isSelected = false
  /// ```
  ///
  /// A store in memory shows it as it shows any other property, until the entity is read again.
  @attached(peer)
  public macro Transient() = #externalMacro(module: "ConcordMacrosPlugin", type: "TransientMacro")
#endif
