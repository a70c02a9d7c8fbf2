#if Macros
  /// Makes a struct a projection of an entity: a part of the entity, as a list shows, which shares its fields with the whole.
  ///
  /// ```swift
  /// @Entity @Projection(of: Book.self) struct BookSummary {
  ///   let id: String
  ///   var title: String
  ///   @EntityIgnored var isExpanded = false
  /// }
  /// ```
  ///
  /// Each stored `var` is shared with the property of the whole that has the same name and type, which the compiler looks up;
  /// ``EntityIgnored()`` excludes one, and a `let` gives a warning. Where names differ, write `sharedFields` by hand. See
  /// ``/Concord/EntityProjection`` for how the two are kept equal.
  @attached(extension, conformances: EntityProjection, names: named(Whole), named(sharedFields))
  public macro Projection<Whole>(of whole: Whole.Type) =
    #externalMacro(module: "ConcordMacrosPlugin", type: "ProjectionMacro")
#endif
