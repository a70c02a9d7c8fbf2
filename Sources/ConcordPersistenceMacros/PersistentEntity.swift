#if Macros
  /// Makes a struct a ``/ConcordModel/PersistentEntity``, with everything that `@Entity` generates.
  ///
  /// ```swift
  /// @PersistentEntity struct Book: Equatable {
  ///   let id: String
  ///   @Attribute(originalName: "name") var title: String
  ///   @Attribute(.unique) var isbn: String?
  ///   var published: Date
  ///   var author: Author
  ///   var reviews: [Review]
  ///   @Transient var isSelected = false
  /// }
  /// ```
  ///
  /// Every stored property gets a column that is called as it is, and its type decides what is in it: a plain value, a raw
  /// value, or JSON for anything else that is `Codable`; for a `PersistentEntity` its id; for an array, a set or a dictionary of
  /// these their number, and the ids in a table of their own (`Book_reviews`); for a ``PersistentWrapper()`` its case, and
  /// columns for what it holds. What has no such type is an error at the property.
  ///
  /// - ``Attribute(_:originalName:)`` says what it was called before, and whether it is unique or indexed.
  /// - ``Transient()`` keeps a property out of the row.
  /// - The initial value of a property is the default for rows that were written before there was its column. It is made
  ///   once. Entities are no defaults: a collection of them is empty then.
  /// - An entity in a `let` cannot follow the store, so it must be a `var`. A `let` that has its value already is not stored.
  /// - `@EntityIgnored` keeps what it holds as JSON: `@EntityIgnored let bookAsSold: Book` is no reference, and needs a
  ///   `Codable` book.
  /// - What the struct declares itself (`persistentProperties`, `init(from:)`, `write(to:)`) is not generated.
  ///
  /// The `id` must be `Codable`. ``PersistentEntity(id:)`` takes it from another property.
  @attached(
    extension,
    conformances: Identifiable, Aggregate, EntityIgnoring, PersistentEntity,
    names: named(nestedEntitiesKeyPaths), named(fixedRelations), named(ignoredEntityProperties),
    named(persistentProperties), named(init(from:)), named(write(to:))
  )
  public macro PersistentEntity() = #externalMacro(module: "ConcordMacrosPlugin", type: "PersistentEntityMacro")

  /// Makes a struct a ``/ConcordModel/PersistentEntity`` whose identity is a property with another name than `id`, and
  /// generates `id`.
  ///
  /// ```swift
  /// @PersistentEntity(id: \.isbn) struct Edition { let isbn: String; var title: String }
  /// ```
  @attached(
    extension,
    conformances: Identifiable, Aggregate, EntityIgnoring, PersistentEntity,
    names: named(id), named(nestedEntitiesKeyPaths), named(fixedRelations), named(ignoredEntityProperties),
    named(persistentProperties), named(init(from:)), named(write(to:))
  )
  public macro PersistentEntity(id: KeyPath<EntityProperties, EntityProperties>) =
    #externalMacro(module: "ConcordMacrosPlugin", type: "PersistentEntityMacro")
#endif
