#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The source of an entity's `id`.
  enum Identity {
    case declared
    case forwarded(to: String, type: String)

    /// Nil, after saying why, if there is none.
    init?(of host: Host, attribute: AttributeSyntax, isElsewhere: Bool, context: some MacroExpansionContext) {
      let macro = attribute.name
      let declares = host.declaresProperty("id")
      guard let argument = attribute.identityArgument else {
        guard declares || isElsewhere else {
          context.report(.missingID(host.name, macro: macro), at: host.declaration.introducer)
          return nil
        }
        self = .declared
        return
      }
      guard let path = argument.propertyPath else {
        context.report(.idNotAKeyPath(), at: argument)
        return nil
      }
      if declares {
        guard path == ["id"] else {
          context.report(.secondID(host.name, macro: macro), at: argument, fixIts: [attribute.fixItToPlain])
          return nil
        }
        self = .declared
        return
      }
      guard let type = host.type(at: path) else {
        context.report(.idOfUnknownType(path.joined(separator: "."), type: host.name), at: argument)
        return nil
      }
      self = .forwarded(to: path.joined(separator: "."), type: type)
    }

    func members(of host: Host) -> [[String]] {
      guard case .forwarded(let path, let type) = self else { return [] }
      return [["\(host.access)nonisolated var id: \(type) { self.\(path) }"]]
    }
  }

  extension Host {
    /// The type at a path of properties as it can be spelled inside the host; nil if that takes more than its syntax.
    fileprivate func type(at path: [String]) -> String? {
      guard let first = path.first, let property = properties.first(where: { $0.spelling == first }) else { return nil }
      let type = property.type?.trimmedDescription ?? property.initializer?.literalType
      switch path.dropFirst() {
      case []: return type
      case ["id"]: return property.type?.is(IdentifierTypeSyntax.self) == true ? type.map { "\($0).ID" } : nil
      default: return nil
      }
    }
  }

  extension AttributeSyntax {
    fileprivate var identityArgument: ExprSyntax? {
      guard case .argumentList(let arguments) = arguments else { return nil }
      return arguments.first { $0.label?.text == "id" }?.expression
    }
  }

  extension ExprSyntax {
    /// `["author", "id"]` for `\.author.id`.
    fileprivate var propertyPath: [String]? {
      guard let components = self.as(KeyPathExprSyntax.self)?.components, !components.isEmpty else { return nil }
      let names = components.map { $0.component.as(KeyPathPropertyComponentSyntax.self)?.declName.baseName.text }
      return names.contains(nil) ? nil : names.compactMap { $0 }
    }

    /// The type a literal has without a type beside it.
    fileprivate var literalType: String? {
      switch kind {
      case .stringLiteralExpr: "Swift.String"
      case .integerLiteralExpr: "Swift.Int"
      default: nil
      }
    }
  }
#endif
