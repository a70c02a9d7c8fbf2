#if Macros
  /// Makes a struct an ``/Concord/Aggregate``.
  ///
  /// ```swift
  /// @Entity struct Book {
  ///   let id: String
  ///   var title: String
  ///   var author: Author
  ///   var reviews: [Review]
  ///   var related: [String: Book]?
  /// }
  /// ```
  ///
  /// Every stored property that can hold an entity is offered to the store, and its type decides whether it is a relation:
  /// an entity, a wrapper, or an optional, a collection, a set, a dictionary or a tuple of these, however deep; also behind a
  /// type alias, a generic parameter or an associated type. A plain struct is none: one with entities in it is declared
  /// ``EntityWrapper()``, and debug builds find what was forgotten. Only the plain types that everybody knows (`String`, `Int`, `Date` and so on) are
  /// left out by their names, which keeps compiling fast and is warned of, should an entity have such a name. The relations are the same
  /// for all values, so the store asks for them once, and reads and writes the properties where they lie.
  ///
  /// - A relation is a `var`: the store puts newer values in it. A `let` that holds an entity gives a warning.
  /// - Computed and static properties are not stored, and therefore no relations. A `lazy` one gives a warning, and so does a
  ///   parameter pack, since no key path leads to its elements.
  /// - Private properties, property wrappers, observed properties and those inside an `#if` are relations as any other.
  ///   One that is reached through a wrapper or an observer is written through it, which costs a little more.
  /// - In a generic struct, a parameter is an entity where it stands for one, whatever is declared of it. Declared as one
  ///   (`Item: Identifiable & Sendable`), it is followed a little faster.
  /// - ``EntityIgnored()`` keeps a property out.
  /// - What the struct declares itself (`nestedEntitiesKeyPaths`, `fixedRelations`) is not generated.
  ///
  /// The struct needs an `id`; ``Entity(id:)`` takes it from another property. Classes, enums, actors, protocols and types
  /// inside functions are refused.
  @attached(
    extension,
    conformances: Identifiable, Aggregate, EntityIgnoring,
    names: named(nestedEntitiesKeyPaths), named(fixedRelations), named(ignoredEntityProperties)
  )
  public macro Entity() = #externalMacro(module: "ConcordMacrosPlugin", type: "EntityMacro")

  /// Makes a struct an ``/Concord/Aggregate`` whose identity is a property with another name than `id`, and generates `id`.
  ///
  /// ```swift
  /// @Entity(id: \.isbn) struct Edition { let isbn: String; var title: String }
  /// @Entity(id: \.author.id) struct AuthorBooks { var author: Author; var books: [Book] }
  /// ```
  ///
  /// The struct must declare the property itself, with its type beside it.
  @attached(
    extension,
    conformances: Identifiable, Aggregate, EntityIgnoring,
    names: named(id), named(nestedEntitiesKeyPaths), named(fixedRelations), named(ignoredEntityProperties)
  )
  public macro Entity(id: KeyPath<EntityProperties, EntityProperties>) =
    #externalMacro(module: "ConcordMacrosPlugin", type: "EntityMacro")

  /// Excludes a stored property of an `@Entity` or an `@EntityWrapper` from the relations: entities in it stay as they were
  /// written, and debug builds do not report them (``/Concord/EntityIgnoring``).
  ///
  /// ```swift
  /// @Entity struct Order { let id: String; @EntityIgnored let bookAsSold: Book }
  /// ```
  @attached(peer)
  public macro EntityIgnored() = #externalMacro(module: "ConcordMacrosPlugin", type: "EntityIgnoredMacro")
#endif
