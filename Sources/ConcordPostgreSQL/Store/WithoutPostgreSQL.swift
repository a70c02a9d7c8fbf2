#if !PostgreSQL
  public import ConcordModel

  // What is missing without the trait, so that the compiler says what to do.

  extension StoreType {
    /// Stores in PostgreSQL, which need the package trait.
    @available(
      *, unavailable,
      message: "turn the package trait 'PostgreSQL' on: .package(url: …, traits: [.defaults, \"PostgreSQL\"])"
    )
    public static var postgreSQL: StoreType { "PostgreSQL" }
  }
#endif
