#if Macros
  /// What the macros write for the properties and cases that may hold entities. Which overload of `add` the compiler
  /// takes decides whether one is a relation: the macros never judge that by the spelling of a type.
  enum Relations {
    /// The line that offers a property of the type itself.
    static func statement(for name: String) -> String { "relations.add(\\Self.\(name))" }

    /// The line that offers a part of a wrapper standing at `parent`.
    static func statement(forWrapped name: String) -> String { "relations.add(parent.appending(path: \\Self.\(name)))" }

    /// The relations that all values of the type have. A computed property, since a generic type may not store it; the
    /// store asks once.
    static func fixed(_ properties: StoredProperties, in host: Host) -> [String] {
      let lines = properties.parts.lines { property in
        // This one has its warning already.
        property.isCertainlyConstantRelation(in: host) ? [] : [statement(for: property.spelling)]
      }
      return fixed(lines, in: host)
    }

    static func fixed(_ statements: [String], in host: Host) -> [String] {
      ["\(host.access)nonisolated static var fixedRelations: [Concord.PartialIdentifiableKeyPath<Self>]? {"]
        + body(root: "Self", statements) + ["}"]
    }

    static func wrapped(_ statements: [String], in host: Host) -> [String] {
      [
        "\(host.access)nonisolated func wrappedEntitiesKeyPaths<Root>(",
        "  relativeTo parent: Swift.WritableKeyPath<Root, Self>",
        ") -> [Concord.PartialIdentifiableKeyPath<Root>] {",
      ] + body(root: "Root", statements) + ["}"]
    }

    private static func body(root: String, _ statements: [String]) -> [String] {
      guard !statements.isEmpty else { return ["  []"] }
      return ["  var relations = Concord.EntityRelations<\(root)>()"] + statements.indented
        + ["  return relations.keyPaths"]
    }
  }

  extension [String] {
    var indented: [String] { map { $0.hasPrefix("#") ? $0 : "  " + $0 } }
  }
#endif
