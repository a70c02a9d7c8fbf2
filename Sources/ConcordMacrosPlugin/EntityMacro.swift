#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// `@Entity`: makes a struct an `Aggregate` and a `StaticallyConsistent` object.
  struct EntityMacro: ExtensionMacro {
    static func expansion(
      of node: AttributeSyntax,
      attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol,
      conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      guard declaration.is(StructDeclSyntax.self) else {
        context.report(
          .notAStruct(
            declaration.kindInWords, name: declaration.nameInWords, isEnum: declaration.is(EnumDeclSyntax.self)),
          at: declaration.introducer)
        return []
      }
      guard let host = Host(declaration, macro: "Entity", context: context) else { return [] }
      let conformances = Conformances(missing: protocols, of: declaration)
      let hasIDElsewhere = !conformances.lacks("Identifiable")
      guard let identity = Identity(of: host, attribute: node, isElsewhere: hasIDElsewhere, context: context)
      else { return [] }

      let properties = StoredProperties(of: host)
      properties.warn(in: context)
      var members = identity.members(of: host)
      if conformances.needMembers(of: "Aggregate") {
        members += relations(of: properties, in: host)
      }
      var protocols = ["Identifiable", "Aggregate"]
      if let property = properties.all.flatMap(\.flattened).first(where: { $0.label == "properties" }) {
        context.report(.propertiesIsTaken(host.name), at: property.name)
      } else if conformances.needMembers(of: "ConsistentObject") {
        members += Consistency(host: host).entityMembers(properties)
        protocols += ["ConsistentValue", "ConsistentObject", "StaticallyConsistent"]
      }
      return [try conformances.extending(type, with: protocols, members: members)].compactMap { $0 }
    }

    private static func relations(of properties: StoredProperties, in host: Host) -> [[String]] {
      // Who lists the relations by hand lists all of them.
      guard !host.declaresProperty("nestedEntitiesKeyPaths") else { return [] }
      let list = [
        "\(host.access)nonisolated var nestedEntitiesKeyPaths: [Concord.PartialIdentifiableKeyPath<Self>] {",
        "  Self.fixedRelations ?? []",
        "}",
      ]
      return host.declaresStatic("fixedRelations") ? [list] : [list, Relations.fixed(properties, in: host)]
    }
  }
#endif
