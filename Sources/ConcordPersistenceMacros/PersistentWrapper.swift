#if Macros
  /// Makes an enum, or a struct without identity, a ``/ConcordModel/PersistentWrapper``, with everything that `@EntityWrapper`
  /// generates.
  ///
  /// ```swift
  /// @PersistentWrapper enum Medium { case book(Book), game(Game), note(String), none }
  /// ```
  ///
  /// A wrapper is stored in the row of what holds it: `var medium: Medium` takes the columns `medium`, with the name of the
  /// case, and `medium_book`, `medium_game` and `medium_note`. In a struct, the stored properties take columns as those of an
  /// entity do. Arrays of wrappers have a table of their own, and hold no collections of entities then.
  ///
  /// A renamed case is another case: rows with the old name cannot be read.
  @attached(extension, conformances: EntityWrapper, EntityIgnoring, PersistentWrapper, names: arbitrary)
  public macro PersistentWrapper() = #externalMacro(module: "ConcordMacrosPlugin", type: "PersistentWrapperMacro")
#endif
