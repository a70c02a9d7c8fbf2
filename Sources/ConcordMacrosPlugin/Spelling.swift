#if Macros
  extension String {
    /// The string literal of this text, in which a raw identifier may have put quotation marks.
    var literal: String {
      "\"" + replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// The name as it is spelled in a declaration and behind a dot: a raw identifier needs backticks.
    var asIdentifier: String {
      allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? self : "`\(self)`"
    }
  }
#endif
