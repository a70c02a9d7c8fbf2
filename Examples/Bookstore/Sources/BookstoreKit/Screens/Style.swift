/// How a piece of text looks.
enum Style: Sendable, Equatable {
  case plain
  case dim
  case strong
  /// Just changed.
  case fresh
  /// The selected row.
  case selected
  case warning

  /// The codes that a terminal knows the style by (ECMA-48, "select graphic rendition").
  func codes(colours: Bool) -> String {
    switch self {
    case .plain: ""
    case .dim: "2"
    case .strong: "1"
    case .fresh: colours ? "1;33" : "7"
    case .selected: colours ? "1;36" : "1;4"
    case .warning: colours ? "31" : "1"
    }
  }
}
