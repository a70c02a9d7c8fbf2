#if Macros
  /// Makes a struct a ``ConcordConsistency/ConsistentObject``, and an enum or an `@EntityWrapper` a
  /// ``ConcordConsistency/ConsistentValue``, which a `ConsistencyManager` keeps consistent with its other copies.
  ///
  /// ```swift
  /// @Entity @Consistent struct Book {
  ///   let id: String
  ///   var title: String
  ///   var author: Author
  /// }
  /// @EntityWrapper @Consistent enum MediaType { case book(Book), game(Game), none }
  /// ```
  ///
  /// The macro works without `@Entity`: `@Consistent struct User { let id: String; var name: String }` is an object that no
  /// store knows.
  ///
  /// - Every stored property is listed in `properties`, and the compiler decides by its type whether objects can be in it.
  /// - A `let` is listed and looked into, but never set.
  /// - A property marked `@EntityIgnored` is listed, and nothing in it is looked for.
  /// - What the struct declares itself (`properties`, `setting(property:)`) is used. A property or a method that has the
  ///   name but another type is left alone.
  ///
  /// The struct needs an `id`; `@Entity(id:)` takes it from another property. Classes, actors, protocols and types inside
  /// functions are refused.
  @attached(
    extension,
    conformances: Identifiable, ConsistentValue, ConsistentObject, StaticallyConsistent,
    names: named(properties), named(setting(property:)), named(_consistentProperties),
    named(declareConsistentParts(in:)),
    named(visitConsistentParts(_:)), named(mergingConsistentParts(_:)), named(declareConsistentTypes(in:)),
    named(visitConsistentObjects(_:)), named(merged(by:))
  )
  public macro Consistent() = #externalMacro(module: "ConcordMacrosPlugin", type: "ConsistentMacro")
#endif
