#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// `@EntityWrapper`: makes an enum, or a struct without identity, an `EntityWrapper`.
  struct EntityWrapperMacro: ExtensionMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
      of node: AttributeSyntax,
      attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol,
      conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      // `@PersistentWrapper` writes all this, and says that one is enough.
      guard !declaration.attributes.contains(attribute: "PersistentWrapper"),
        let wrapper = WrapperExtension(of: node, attachedTo: declaration, missing: protocols, in: context)
      else { return [] }
      return wrapper.conformances.extending(type, with: wrapper.protocols, members: wrapper.members)
    }
  }
#endif
