#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The places in the user's source at which the compiler shows its diagnostics of generated code.
  struct SourceLines {
    private let context: any MacroExpansionContext

    init(_ context: some MacroExpansionContext) { self.context = context }

    /// The call of a method on `receiver` in which the method's name seems to stand where `token` does.
    func call(_ method: String, on receiver: String, as token: TokenSyntax) -> [String] {
      // A type that is checked by a test has no file.
      guard let place = context.location(of: token, at: .afterLeadingTrivia, filePathMode: .filePath),
        let file = place.file.as(StringLiteralExprSyntax.self)?.description,
        let line = Int(place.line.description), let column = Int(place.column.description), line > 1, column > 1
      else { return ["\(receiver).\(method)"] }
      return [
        "#sourceLocation(file: \(file), line: \(line - 1))",
        receiver,
        String(repeating: " ", count: column - 2) + ".\(method)",
        "#sourceLocation()",
      ]
    }
  }
#endif
