#if Macros
  /// Makes a struct a projection of an entity: a part of it, as a list shows, that shares what it shows.
  ///
  /// ```swift
  /// @Entity @Projection(of: Book.self) struct BookSummary {
  ///   let id: String
  ///   var title: String
  ///   @EntityIgnored var isExpanded = false
  /// }
  /// ```
  ///
  /// Each stored `var` is shared with the property of the same name and type of the whole, which the compiler looks for;
  /// ``EntityIgnored()`` keeps one out, and a `let` gives a warning. Where names differ, list `sharedFields` by hand. How the
  /// two are kept in step: ``/Concord/EntityProjection``.
  @attached(extension, conformances: EntityProjection, names: named(Whole), named(sharedFields))
  public macro Projection<Whole>(of whole: Whole.Type) =
    #externalMacro(module: "ConcordMacrosPlugin", type: "ProjectionMacro")
#endif
