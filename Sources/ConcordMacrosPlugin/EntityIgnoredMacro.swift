#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// `@EntityIgnored`: a mark that `@Entity` and `@EntityWrapper` read; it writes nothing itself.
  struct EntityIgnoredMacro: PropertyMark {}

  /// A mark before a stored property, which other macros read.
  protocol PropertyMark: PeerMacro {}

  extension PropertyMark {
    static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let property = declaration.as(VariableDeclSyntax.self)
      if property?.storedProperties.isEmpty ?? true {
        let fixIts = [node.fixItToRemove(from: declaration)].compactMap { $0 }
        context.report(.marksNothing(node.name), at: node, fixIts: fixIts)
      }
      return []
    }
  }
#endif
