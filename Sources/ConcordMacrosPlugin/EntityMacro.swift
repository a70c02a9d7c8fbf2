#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// `@Entity`: makes a struct an `Aggregate`.
  struct EntityMacro: ExtensionMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
      of node: AttributeSyntax,
      attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol,
      conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      guard declaration.is(StructDeclSyntax.self) else {
        let isEnum = declaration.is(EnumDeclSyntax.self)
        context.report(
          .notAStruct(declaration.kindInWords, name: declaration.nameInWords, isEnum: isEnum),
          at: declaration.introducer, fixIts: isEnum ? [node.fixIt(toRename: "EntityWrapper")] : [])
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
      // Who lists the relations by hand lists all of them.
      if conformances.needMembers(of: "Aggregate"), !host.declaresProperty("nestedEntitiesKeyPaths") {
        let relations = Relations(of: properties, in: context)
        members.append(relations.nested)
        if !host.declaresStatic("fixedRelations") { members.append(relations.fixed) }
      }
      members += properties.ignoring
      let protocols = ["Identifiable", "Aggregate"] + (properties.ignored.isEmpty ? [] : ["EntityIgnoring"])
      return conformances.extending(type, with: protocols, members: members)
    }
  }
#endif
