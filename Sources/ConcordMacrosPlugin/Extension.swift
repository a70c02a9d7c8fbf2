#if Macros
  import SwiftSyntax

  /// The extension that a macro adds, of lines that are written already.
  struct Extension {
    let type: String
    let conformances: [String]
    let members: [[String]]

    /// The lines go through as they are: parsing them here, only to print them again, would take most of a macro's time
    /// in a debug build, and the compiler parses them anyway.
    var declaration: ExtensionDeclSyntax {
      let clause = conformances.isEmpty ? "" : ": " + conformances.joined(separator: ", ")
      let body = members.map { $0.indented.joined(separator: "\n") }.joined(separator: "\n\n")
      return ExtensionDeclSyntax(
        extensionKeyword: .keyword(.extension, trailingTrivia: .space),
        extendedType: IdentifierTypeSyntax(name: .identifier(type + clause, trailingTrivia: .space)),
        memberBlock: MemberBlockSyntax(
          leftBrace: .leftBraceToken(trailingTrivia: .newline), members: [],
          rightBrace: .rightBraceToken(leadingTrivia: Trivia(pieces: [.unexpectedText(body), .newlines(1)]))))
    }
  }
#endif
