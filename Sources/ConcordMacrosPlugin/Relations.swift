#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The members for the properties and cases that may hold entities. The overload of `add` that the compiler chooses decides
  /// whether one is a relation: the macros only leave out types that certainly hold none.
  struct Relations {
    let host: Host
    /// The type as the extension names it.
    private let body: [String]
    private let isDeprecated: Bool

    /// The relations of a struct.
    init(of properties: StoredProperties, in context: some MacroExpansionContext) {
      host = properties.host
      let places = SourceLines(context)
      let host = self.host
      let offered = properties.parts.flatMap(\.flattened)
      let candidates = offered.filter { !$0.isPlain && !$0.isCertainlyConstantRelation(in: host) }
      let statements = properties.parts.lines { property in
        // A constant whose spelling is proof has its warning already.
        guard !property.isPlain, !property.isCertainlyConstantRelation(in: host) else { return [] }
        return Relations.statement(for: property, places: places)
      }
      body = Relations.check(PlainTypes(in: offered.map { ($0.type, $0.name) }), places) + statements
      isDeprecated = candidates.contains { $0.availability.isDeprecated }
    }

    /// The relations of an enum.
    init(of cases: [Conditional<WrapperCase>], host: Host, in context: some MacroExpansionContext) {
      self.host = host
      let places = SourceLines(context)
      let types = cases.flatMap(\.flattened).flatMap { element in element.payloads.map { ($0.type, element.name) } }
      let statements = cases.caseLines { wrapperCase in
        wrapperCase.followed.flatMap { payload in
          let path = "\\Self.\(payload.accessor)"
          // One that the user wrote may have no setter.
          let isConstant = host.properties.contains { $0.label == payload.accessorLabel && !$0.hasSetter }
          let method = isConstant ? "addConstant(\(path))" : "add(\(path))"
          return places.call(method, on: "relations", as: wrapperCase.name)
        }
      }
      body = Relations.check(PlainTypes(in: types), places) + statements
      isDeprecated = cases.flatMap(\.flattened).contains { $0.availability.isDeprecated }
    }

    private static func statement(for property: StoredProperty, places: SourceLines) -> [String] {
      paths(to: "\\Self.\(property.spelling)", type: property.type).flatMap { path in
        // What a property wrapper makes of it may belong to an actor, where the stored property belongs to none.
        let method =
          property.mayLackSetter
          ? "addConstant(Concord._relationPath { \(path) })"
          : property.isConstant ? "addConstant(\(path))" : "add(\(path))"
        return places.call(method, on: "relations", as: property.name)
      }
    }

    /// The path itself or, as a tuple is no type that could say what is in it, those to its elements.
    private static func paths(to path: String, type: TypeSyntax?) -> [String] {
      guard let elements = type?.as(TupleTypeSyntax.self)?.elements else { return [path] }
      if elements.count == 1 { return elements.first.map { paths(to: path, type: $0.type) } ?? [] }
      return elements.enumerated().flatMap { index, element in
        element.type.isPlain ? [] : paths(to: "\(path).\(index)", type: element.type)
      }
    }

    private static func check(_ types: PlainTypes, _ places: SourceLines) -> [String] {
      types.names.flatMap { places.call("leaveOut(\($0.name).self)", on: "relations", as: $0.place) }
    }

    /// The relations that all values of the type have. A computed property, since a generic type may not store it; the
    /// store asks once.
    var fixed: [String] {
      let head = "\(host.access)nonisolated static var fixedRelations: [Concord.PartialIdentifiableKeyPath<Self>]? {"
      guard !body.isEmpty else { return [head, "  []", "}"] }
      let lines =
        [head, "  var relations = Concord.EntityRelations<Self>()"] + body.indented + [
          "  return relations.keyPaths", "}",
        ]
      return lines.deprecated(if: isDeprecated)
    }

    /// The relations of an aggregate.
    var nested: [String] {
      [
        "\(host.access)nonisolated var nestedEntitiesKeyPaths: [Concord.PartialIdentifiableKeyPath<Self>] {",
        "  Self.fixedRelations ?? []",
        "}",
      ].deprecated(if: isDeprecated)
    }

    /// The relations of a wrapper, as seen from the value in which it stands.
    var wrapped: [String] {
      [
        "\(host.access)nonisolated func wrappedEntitiesKeyPaths<Root>(",
        "  relativeTo parent: Swift.WritableKeyPath<Root, Self>",
        ") -> [Concord.PartialIdentifiableKeyPath<Root>] {",
        "  (Self.fixedRelations ?? []).map { $0._appended(to: parent) }",
        "}",
      ].deprecated(if: isDeprecated)
    }
  }

  extension [String] {
    /// Indented by two spaces, but what starts a line by itself: a directive, and a call whose column has a meaning.
    var indented: [String] {
      map { line in line.hasPrefix("#") || line.drop { $0 == " " }.hasPrefix(".") ? line : "  " + line }
    }
  }
#endif
