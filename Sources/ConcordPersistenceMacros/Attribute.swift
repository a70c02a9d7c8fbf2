#if Macros
  /// What a store is to know of a property of a `@PersistentEntity` besides its type.
  ///
  /// ```swift
  /// @Attribute(.unique) var isbn: String?                // no two books have the same; none is no value
  /// @Attribute(.indexed) var year: Int                   // predicates and sorting by it are fast
  /// @Attribute(.indexed, originalName: "name") var title: String
  /// ```
  ///
  /// - Parameters:
  ///   - options: what is true of the values.
  ///   - originalName: what the property was called in an earlier version of the model. Its column is carried over when a
  ///     file is attached.
  @attached(peer)
  public macro Attribute(_ options: AttributeOption..., originalName: String? = nil) =
    #externalMacro(module: "ConcordMacrosPlugin", type: "AttributeMacro")
#endif
