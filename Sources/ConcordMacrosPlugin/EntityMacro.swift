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
      // `@PersistentEntity` writes all this, and says that one is enough.
      guard !declaration.attributes.contains(attribute: "PersistentEntity"),
        let entity = EntityExtension(of: node, attachedTo: declaration, missing: protocols, in: context)
      else { return [] }
      return entity.conformances.extending(type, with: entity.protocols, members: entity.members)
    }
  }
#endif
