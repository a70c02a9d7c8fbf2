#if Macros
  import SwiftSyntax

  /// What the `@available` before a declaration means for code that mentions it.
  struct Availability {
    /// Mentioning it gives a warning, except in what is deprecated itself.
    private(set) var isDeprecated = false
    /// It can be mentioned nowhere.
    private(set) var isUnavailable = false
    /// It cannot be mentioned on these platforms.
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
    /// A member that may mention what is deprecated. Only the requirement of a protocol is called, so nobody is warned.
    func deprecated(if isDeprecated: Bool) -> [String] { isDeprecated ? ["@available(*, deprecated)"] + self : self }
  }
#endif
