#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// `@Projection(of:)`: makes a struct an `EntityProjection` that shares the properties of the same names.
  struct ProjectionMacro: ExtensionMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
      of node: AttributeSyntax,
      attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol,
      conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      guard declaration.is(StructDeclSyntax.self) else {
        context.report(
          .notAProjection(declaration.kindInWords, name: declaration.nameInWords), at: declaration.introducer)
        return []
      }
      guard let host = Host(declaration, macro: "Projection", context: context) else { return [] }
      guard let whole = node.wholeOfProjection else {
        context.report(.projectionOfNoType, at: node)
        return []
      }
      let conformances = Conformances(missing: protocols, of: declaration)
      var members: [[String]] = [["\(host.access)typealias Whole = \(whole)"]]
      if !host.declaresStatic("sharedFields") { members.append(sharedFields(of: host, whole, context)) }
      return conformances.extending(type, with: ["EntityProjection"], members: members)
    }

    private static func sharedFields(
      of host: Host, _ whole: String, _ context: some MacroExpansionContext
    ) -> [String] {
      let places = SourceLines(context)
      let statements = StoredProperties(of: host).parts.lines { property in
        if property.label == "id" { return [] }
        guard !property.isConstant else {
          context.report(
            .constantShared(property.label, whole: whole), at: property.name,
            fixIts: [property.declaration.fixItToVar, property.declaration.fixItToIgnored])
          return []
        }
        let paths = "\\Self.\(property.spelling), \\\(whole).\(property.spelling)"
        return places.call("append(Concord.SharedField(\(paths)))", on: "fields", as: property.name)
      }
      return [
        "\(host.access)nonisolated static var sharedFields: [Concord.SharedField<Self, \(whole)>] {",
        "  var fields: [Concord.SharedField<Self, \(whole)>] = []",
      ] + statements.indented + ["  return fields", "}"]
    }
  }

  extension AttributeSyntax {
    /// `Book` in `@Projection(of: Book.self)`.
    fileprivate var wholeOfProjection: String? {
      guard case .argumentList(let arguments) = arguments,
        let access = arguments.first(where: { $0.label?.text == "of" })?.expression.as(MemberAccessExprSyntax.self),
        access.declName.baseName.text == "self"
      else { return nil }
      return access.base?.trimmedDescription
    }
  }
#endif
