#if Macros
  /// Makes an enum, or a struct without identity, an ``/Concord/EntityWrapper``.
  ///
  /// ```swift
  /// @EntityWrapper enum MediaType { case book(Book), game(Game), none }
  /// ```
  ///
  /// Each payload gets a computed property (`var book: Book? { get set }`), and is a relation if its type is one, as with
  /// ``Entity()``. A case with several payloads gets one property for each, named after the case and the payload's label
  /// or position: `case pair(first: Book, Game)` gives `pairFirst` and `pair1`. So do cases that differ by their labels only:
  /// `case media(book: Book), media(game: Game)` gives `mediaBook` and `mediaGame`.
  ///
  /// Setting a property makes the value that case; one of several payloads can be set only while the value is that case.
  /// Setting it to `nil` while the value is that case makes it `.none` if the enum declares `case none`, and is ignored
  /// otherwise; then the entity is required, and removing it from the store removes what requires it. A payload that is
  /// optional itself becomes `nil`. A property that the enum declares itself with the payload's type is used instead of a
  /// generated one; beside one of another type, the generated property has an underscore before its name: `_book`.
  ///
  /// An `Identifiable` enum is a wrapper all the same. A case that is unavailable is left out.
  ///
  /// In a struct, the stored properties are the parts.
  ///
  /// A type that declares `==` or `<` itself states `Equatable`, `Hashable` or `Comparable` in an extension, not behind its
  /// own name: there the compiler would derive operators of its own beside them, and use those. An operator that stands in
  /// another extension the macro cannot see, and so nothing is said: there the conformance has to stand, too.
  @attached(extension, conformances: EntityWrapper, EntityIgnoring, names: arbitrary)
  public macro EntityWrapper() = #externalMacro(module: "ConcordMacrosPlugin", type: "EntityWrapperMacro")
#endif
