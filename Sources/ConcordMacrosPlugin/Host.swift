#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The type a macro is attached to.
  struct Host {
    let declaration: any DeclGroupSyntax
    let name: String
    /// The modifier that generated members need, with a space behind it, or nothing.
    let access: String
    /// All members the type itself declares, in whichever branch of an `#if`.
    let members: [DeclSyntax]

    /// Whether static properties can be stored: not in a generic type, nor in one inside of it.
    let canStoreStatics: Bool

    /// Nil, after saying why, for a type that no macro of this package can extend.
    init?(_ declaration: some DeclGroupSyntax, macro: String, context: some MacroExpansionContext) {
      self.declaration = declaration
      // Of an extension nobody can see whether its type is generic.
      canStoreStatics = ([Syntax(declaration)] + context.lexicalContext).allSatisfy { node in
        node.asProtocol((any WithGenericParametersSyntax).self).map { $0.genericParameterClause == nil } ?? false
      }
      name = declaration.nameInWords
      access = declaration.accessOfMembers(in: context.lexicalContext)
      members = declaration.memberBlock.members.conditionalMap { [$0] }.flatMap(\.flattened)
      if context.lexicalContext.contains(where: \.isLikeAFunction) {
        context.report(.local(macro), at: declaration.introducer)
        return nil
      }
      if let modifier = declaration.innerPrivateModifier(in: context.lexicalContext) {
        context.report(.outOfReach(macro), at: modifier, fixIts: [modifier.fixItToFileprivate])
        return nil
      }
      if declaration.inheritedTypes.contains("~Copyable") {
        context.report(.noncopyable(macro), at: declaration.introducer)
        return nil
      }
    }

    /// All instance properties the type itself declares, computed ones among them.
    var properties: [StoredProperty] { variables.filter { !$0.isStatic }.flatMap(\.allProperties) }

    func declaresProperty(_ name: String) -> Bool { properties.contains { $0.label == name } }

    func declaresMethod(_ name: String) -> Bool {
      members.contains { member in
        guard let function = member.as(FunctionDeclSyntax.self), !function.modifiers.contains(keyword: .static)
        else { return false }
        return (function.name.identifier?.name ?? function.name.text) == name
      }
    }

    /// Whether a method can be called with these labels: `["property"]`, `[nil]` for `_`.
    func declaresMethod(_ name: String, labels: [String]) -> Bool {
      members.contains { member in
        guard let function = member.as(FunctionDeclSyntax.self), !function.modifiers.contains(keyword: .static),
          (function.name.identifier?.name ?? function.name.text) == name
        else { return false }
        return function.signature.parameterClause.parameters.map(\.firstName.text) == labels
      }
    }

    func declaresStatic(_ name: String) -> Bool {
      variables.contains { $0.isStatic && $0.allProperties.contains { $0.label == name } }
    }

    private var variables: [VariableDeclSyntax] { members.compactMap { $0.as(VariableDeclSyntax.self) } }

    /// Names that mean an entity or a wrapper here beyond doubt: the type's own, and those declared inside it as such.
    var knownEntities: Set<String> {
      let nested = members.compactMap { member -> String? in
        guard let type = member.asProtocol((any DeclGroupSyntax).self),
          type.attributes.marksAnEntity || type.attributes.marksAWrapper
        else { return nil }
        return type.nameInWords
      }
      return Set(nested + [name, "Self"])
    }
  }

  extension DeclGroupSyntax {
    var nameInWords: String { asProtocol((any NamedDeclSyntax).self)?.name.text ?? introducer.text }

    /// "a class", "an actor", …
    var kindInWords: String {
      switch introducer.tokenKind {
      case .keyword(.actor), .keyword(.enum), .keyword(.extension): "an \(introducer.text)"
      default: "a \(introducer.text)"
      }
    }

    /// The types in the inheritance clause, as text.
    var inheritedTypes: [String] { inheritanceClause?.inheritedTypes.map(\.type.trimmedDescription) ?? [] }

    /// The `private` of this type, or of one around it, that hides it from the rest of the file.
    fileprivate func innerPrivateModifier(in lexicalContext: [Syntax]) -> DeclModifierSyntax? {
      let outer = lexicalContext.compactMap { $0.asProtocol((any WithModifiersSyntax).self)?.modifiers }
      // What is private at the top of a file is seen in the whole of it.
      return ([modifiers] + outer).dropLast().lazy.compactMap { modifiers in
        modifiers.first { $0.name.tokenKind == .keyword(.private) }
      }.first
    }

    fileprivate func accessOfMembers(in lexicalContext: [Syntax]) -> String {
      let levels: [Keyword] = [.public, .package, .internal, .fileprivate, .private]
      func level(_ modifiers: DeclModifierListSyntax?) -> Keyword? {
        levels.first { modifiers?.contains(keyword: $0) ?? false }
      }
      let outer = lexicalContext.map { $0.asProtocol((any WithModifiersSyntax).self)?.modifiers }
      // An extension's members are in the file, so what is private outside of them is out of their reach.
      if ([modifiers] + outer).contains(where: { [.private, .fileprivate].contains(level($0)) }) {
        return "fileprivate "
      }
      // In `public extension Shop { @Entity struct Book … }` the struct is public without saying so.
      let isInExtension = lexicalContext.first?.is(ExtensionDeclSyntax.self) ?? false
      return switch level(modifiers) ?? (isInExtension ? level(outer.first ?? nil) : nil) {
      case .public: "public "
      case .package: "package "
      default: attributes.contains(attribute: "usableFromInline") ? "@usableFromInline " : ""
      }
    }
  }

  extension Syntax {
    /// Whether a type declared in here is a local one.
    fileprivate var isLikeAFunction: Bool {
      self.is(FunctionDeclSyntax.self) || self.is(InitializerDeclSyntax.self) || self.is(DeinitializerDeclSyntax.self)
        || self.is(AccessorDeclSyntax.self) || self.is(ClosureExprSyntax.self) || self.is(SubscriptDeclSyntax.self)
        || self.is(VariableDeclSyntax.self) || self.is(PatternBindingSyntax.self)
    }
  }

  extension DeclModifierListSyntax {
    func contains(keyword: Keyword) -> Bool { contains { $0.name.tokenKind == .keyword(keyword) } }
  }

  extension AttributeListSyntax {
    var marksAnEntity: Bool { contains(attribute: "Entity") || contains(attribute: "PersistentEntity") }
    var marksAWrapper: Bool { contains(attribute: "EntityWrapper") || contains(attribute: "PersistentWrapper") }

    /// Whether one of them has that name, on its own or behind a module's.
    func contains(attribute name: String) -> Bool { attribute(named: name) != nil }

    /// The first of that name.
    func attribute(named name: String) -> AttributeSyntax? {
      lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.name == name }
    }
  }

  extension AttributeSyntax {
    /// Its name, without a module's.
    var name: String {
      attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? attributeName.as(MemberTypeSyntax.self)?.name.text
        ?? attributeName.trimmedDescription
    }
  }
#endif
