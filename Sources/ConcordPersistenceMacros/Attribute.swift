#if Macros
  /// Declares constraints, an index or the earlier name of a property of a `@PersistentEntity`.
  ///
  /// ```swift
  /// @Attribute(.unique) var isbn: String?                // no two books have the same; none is no value
  /// @Attribute(.indexed) var year: Int                   // predicates and sorting by it are fast
  /// @Attribute(.indexed, originalName: "name") var title: String
  /// @Attribute(.searchable) var text: String             // its words are found by a search
  /// ```
  ///
  /// - Parameters:
  ///   - options: the constraints on the values, and whether they are indexed.
  ///   - originalName: the name of the property in an earlier version of the model, whose column is carried over when a file is
  ///     attached.
  @attached(peer)
  public macro Attribute(_ options: AttributeOption..., originalName: String? = nil) =
    #externalMacro(module: "ConcordMacrosPlugin", type: "AttributeMacro")
#endif
