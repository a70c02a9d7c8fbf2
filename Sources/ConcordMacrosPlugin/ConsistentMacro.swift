#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// `@Consistent`: makes a struct a `StaticallyConsistent` object, and what has no identity a `ConsistentValue`.
  struct ConsistentMacro: ExtensionMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
      of node: AttributeSyntax,
      attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol,
      conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      guard declaration.is(EnumDeclSyntax.self) || declaration.is(StructDeclSyntax.self) else {
        context.report(
          .notConsistent(declaration.kindInWords, name: declaration.nameInWords), at: declaration.introducer)
        return []
      }
      guard let host = Host(declaration, macro: "Consistent", context: context) else { return [] }
      let conformances = Conformances(missing: protocols, of: declaration)
      let consistency = Consistency(host: host)
      let isWrapper = declaration.is(EnumDeclSyntax.self) || declaration.attributes.marksAWrapper
      guard !isWrapper else {
        guard conformances.lacks("ConsistentValue") else { return [] }
        let members =
          declaration.is(EnumDeclSyntax.self)
          ? consistency.wrapperMembers(host.cases) : consistency.wrapperMembers(StoredProperties(of: host))
        return conformances.extending(type, with: ["ConsistentValue"], members: members)
      }
      guard conformances.needMembers(of: "ConsistentObject") else { return [] }
      // `@Entity` sees to the identity, and says so if there is none.
      let isEntity = declaration.attributes.marksAnEntity
      guard isEntity || host.declaresProperty("id") || !conformances.lacks("Identifiable") else {
        context.report(.missingIDOfObject(host.name), at: declaration.introducer)
        return []
      }
      let protocols = ["ConsistentValue", "ConsistentObject", "StaticallyConsistent"]
      return conformances.extending(
        type, with: isEntity ? protocols : ["Identifiable"] + protocols,
        members: consistency.entityMembers(StoredProperties(of: host)))
    }
  }
#endif
