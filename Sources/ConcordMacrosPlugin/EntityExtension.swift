#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The extension that makes a struct an `Aggregate`, which `@PersistentEntity` writes, too.
  struct EntityExtension {
    let host: Host
    let properties: StoredProperties
    let conformances: Conformances
    /// The protocols to conform to.
    let protocols: [String]
    let members: [[String]]

    /// Nil, after saying why, for what can be no entity.
    init?(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax, missing: [TypeSyntax],
      in context: some MacroExpansionContext
    ) {
      let macro = node.name
      guard declaration.is(StructDeclSyntax.self) else {
        let isPersistent = macro == "PersistentEntity"
        let wrapper =
          declaration.is(EnumDeclSyntax.self) ? (isPersistent ? "PersistentWrapper" : "EntityWrapper") : nil
        context.report(
          .notAStruct(declaration.kindInWords, name: declaration.nameInWords, macro: macro, wrapper: wrapper),
          at: declaration.introducer, fixIts: wrapper.map { [node.fixIt(toRename: $0)] } ?? [])
        return nil
      }
      guard let host = Host(declaration, macro: macro, context: context) else { return nil }
      let conformances = Conformances(missing: missing, of: declaration)
      let hasIDElsewhere = !conformances.lacks("Identifiable")
      guard let identity = Identity(of: host, attribute: node, isElsewhere: hasIDElsewhere, context: context)
      else { return nil }

      let properties = StoredProperties(of: host)
      properties.warn(in: context)
      var members = identity.members(of: host)
      // Who lists the relations by hand lists all of them.
      if conformances.needMembers(of: "Aggregate"), !host.declaresProperty("nestedEntitiesKeyPaths") {
        let relations = Relations(of: properties, in: context)
        members.append(relations.nested)
        if !host.declaresStatic("fixedRelations") { members.append(relations.fixed) }
      }
      self.host = host
      self.properties = properties
      self.conformances = conformances
      self.members = members + properties.ignoring
      protocols = ["Identifiable", "Aggregate"] + (properties.ignored.isEmpty ? [] : ["EntityIgnoring"])
    }
  }
#endif
