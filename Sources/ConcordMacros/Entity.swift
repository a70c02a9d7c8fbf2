#if Macros
  /// Makes a struct an ``Concord/Aggregate``.
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
  /// Every stored property that can hold an entity is offered to the store, and the compiler decides by its type whether it
  /// is a relation: an entity, an optional, a collection, a set or a dictionary of entities, or a wrapper; also behind a
  /// type alias or a generic parameter. Only the plain types that everybody knows (`String`, `Int`, `Date` and so on) are
  /// left out by their names, which keeps compiling fast and is warned of, should an entity have such a name. The relations are the same
  /// for all values, so the store asks for them once, and reads and writes the properties where they lie.
  ///
  /// - A relation is a `var`: the store puts newer values in it. A `let` that holds an entity gives a warning.
  /// - Computed and static properties are not stored, and therefore no relations. A `lazy` one gives a warning.
  /// - Private properties, property wrappers, observed properties and those inside an `#if` are relations as any other.
  ///   One that is reached through a wrapper or an observer is written through it, which costs a little more.
  /// - In a generic struct, a parameter is an entity if it is declared as one (`Item: Identifiable & Sendable`), whatever
  ///   it stands for in one instance. A property of a parameter that is not gives a warning.
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

  /// The same for a struct whose identity is a property that is not called `id`; it writes `id`.
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

  /// Keeps a stored property of an `@Entity` or an `@EntityWrapper` from being a relation: entities in it stay as they
  /// were written.
  ///
  /// ```swift
  /// @Entity struct Order { let id: String; @EntityIgnored let bookAsSold: Book }
  /// ```
  @attached(peer)
  public macro EntityIgnored() = #externalMacro(module: "ConcordMacrosPlugin", type: "EntityIgnoredMacro")
#endif
