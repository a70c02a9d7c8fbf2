#if Macros
  extension String {
    /// The string literal of this text, in which a raw identifier may have put quotation marks.
    ///
    /// It looks at scalars, as the compiler does: a combining mark behind a quotation mark makes another `Character` of both.
    var literal: String {
      var scalars = String.UnicodeScalarView("\"".unicodeScalars)
      for scalar in unicodeScalars {
        if scalar == "\\" || scalar == "\"" { scalars.append("\\") }
        scalars.append(scalar)
      }
      scalars.append("\"")
      return String(scalars)
    }

    /// The name as it is spelled in a declaration and behind a dot: a raw identifier needs backticks.
    var asIdentifier: String {
      allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? self : "`\(self)`"
    }
  }
#endif
