#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// `@EntityIgnored`: a mark that `@Entity` and `@EntityWrapper` read; it writes nothing itself.
  struct EntityIgnoredMacro: PeerMacro {
    static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let property = declaration.as(VariableDeclSyntax.self)
      if property?.storedProperties.isEmpty ?? true {
        context.report(.ignoresNothing, at: node, fixIts: [node.fixItToRemove(from: declaration)].compactMap { $0 })
      }
      return []
    }
  }
#endif
