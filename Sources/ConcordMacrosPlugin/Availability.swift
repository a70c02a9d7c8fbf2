#if Macros
  import SwiftSyntax

  /// The effect of a declaration's `@available` on code that mentions the declaration.
  struct Availability {
    /// Whether a mention gives a warning, except in declarations that are deprecated themselves.
    private(set) var isDeprecated = false
    /// Whether the declaration can be mentioned nowhere.
    private(set) var isUnavailable = false
    /// The platforms on which the declaration cannot be mentioned.
    private(set) var missingPlatforms: [String] = []

    init(_ attributes: AttributeListSyntax) {
      for element in attributes {
        guard let attribute = element.as(AttributeSyntax.self),
          attribute.attributeName.trimmedDescription == "available",
          case .availability(let arguments) = attribute.arguments
        else { continue }
        let words = arguments.compactMap { argument -> String? in
          switch argument.argument {
          case .token(let token): token.text
          case .availabilityLabeledArgument(let labeled): labeled.label.text
          default: nil
          }
        }
        if words.contains("deprecated") { isDeprecated = true }
        guard words.contains("unavailable"), let platform = words.first else { continue }
        if platform == "*" { isUnavailable = true } else { missingPlatforms.append(platform) }
      }
    }

    /// The condition under which it can be mentioned; nil if there is none.
    var condition: String? {
      missingPlatforms.isEmpty
        ? nil : missingPlatforms.map { "!\(Availability.test(for: $0))" }.joined(separator: " && ")
    }

    private static func test(for platform: String) -> String {
      platform == "macCatalyst" ? "targetEnvironment(macCatalyst)" : "os(\(platform))"
    }
  }

  extension [String] {
    /// Returns the lines of a member that may mention deprecated declarations. Callers use the protocol's requirement, so they get
    /// no warning.
    func deprecated(if isDeprecated: Bool) -> [String] { isDeprecated ? ["@available(*, deprecated)"] + self : self }
  }
#endif
