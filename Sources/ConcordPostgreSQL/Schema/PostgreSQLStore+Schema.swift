#if PostgreSQL
  public import ConcordModel
  import ConcordPersistence

  extension PostgreSQLStore {
    /// Returns the SQL that makes the tables of a model, for an administrator who runs it where the program's role may not.
    ///
    /// It is a script for `psql`, in one transaction. Who runs it owns the tables. A program that attaches as another role finds all that it needs:
    ///
    /// ```swift
    /// print(try PostgreSQLStore.schemaSQL(for: model, role: "shop"))
    /// ```
    ///
    /// - Parameters:
    ///   - model: The model of the program.
    ///   - schema: The schema that is to have the tables.
    ///   - role: The role that the program connects as, which gets the least rights that a store needs; `nil` if it is the owner.
    public static func schemaSQL(for model: Model, schema: String = "concord", role: String? = nil) throws -> String {
      let wanted = PostgreSQLSchema(
        entities: model.entities, migrations: [], store: schema, name: schema, migrates: true, version: model.version,
        areTogether: areTogether(in: model, configuration: ""))
      return try wanted.script(for: role).text
    }

    /// Whether an entity and one that it refers to are always kept together.
    static func areTogether(
      in model: Model, configuration: String
    ) -> @Sendable (EntityDescription, EntityDescription) -> Bool {
      let configurations = model.configurationNames
      return { a, b in
        // Without a configuration, a store keeps only what no other store does that is attached.
        !configuration.isEmpty
          || configurations.allSatisfy {
            model.isMeant(a, for: $0, attached: []) == model.isMeant(b, for: $0, attached: [])
          }
      }
    }
  }
#endif
