#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The extension that makes an enum or a struct an `EntityWrapper`, which `@PersistentWrapper` writes, too.
  struct WrapperExtension {
    /// The parts of the wrapper.
    enum Parts {
      case cases([Conditional<WrapperCase>])
      case properties(StoredProperties)
    }

    let host: Host
    let parts: Parts
    let conformances: Conformances
    /// The protocols to conform to.
    let protocols: [String]
    let members: [[String]]

    /// Nil, after saying why, for what can be no wrapper.
    init?(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax, missing: [TypeSyntax],
      in context: some MacroExpansionContext
    ) {
      let macro = node.name
      guard declaration.is(EnumDeclSyntax.self) || declaration.is(StructDeclSyntax.self) else {
        context.report(
          .notAWrapper(declaration.kindInWords, name: declaration.nameInWords, macro: macro),
          at: declaration.introducer)
        return nil
      }
      guard let host = Host(declaration, macro: macro, context: context) else { return nil }
      Self.reportOperators(of: host, declaration, macro: macro, context)
      let contents: Contents
      if declaration.is(EnumDeclSyntax.self) {
        let cases = host.cases
        guard let found = Self.ofEnum(cases, host, context) else { return nil }
        (parts, contents) = (.cases(cases), found)
      } else {
        let properties = StoredProperties(of: host)
        (parts, contents) = (.properties(properties), Self.ofStruct(properties, context))
      }
      let conformances = Conformances(missing: missing, of: declaration)
      var members = contents.accessors
      if conformances.needMembers(of: "EntityWrapper"), !host.declaresMethod("wrappedEntitiesKeyPaths") {
        members.append(contents.relations.wrapped)
        if !host.declaresStatic("fixedRelations") { members.append(contents.relations.fixed) }
      }
      self.host = host
      self.conformances = conformances
      self.members = members + contents.ignoring
      protocols = ["EntityWrapper"] + (contents.ignoring.isEmpty ? [] : ["EntityIgnoring"])
    }

    /// The compiler takes an operator that a type with arbitrary generated names declares for two, and derives its own, as
    /// long as the type itself states the conformance.
    private static func reportOperators(
      of host: Host, _ declaration: some DeclGroupSyntax, macro: String, _ context: some MacroExpansionContext
    ) {
      let stated = declaration.inheritedTypes.filter { ["Equatable", "Hashable", "Comparable"].contains($0) }
      let operators = host.members.compactMap { $0.as(FunctionDeclSyntax.self) }.filter {
        [.binaryOperator("=="), .binaryOperator("<")].contains($0.name.tokenKind)
      }
      guard !stated.isEmpty, let first = operators.first else { return }
      context.report(
        .operatorOfWrapper(
          first.name.text, conformances: stated.joined(separator: ", "), type: host.name, macro: macro),
        at: first.name, fixIts: [declaration.fixIt(toStateElsewhere: Set(stated), of: host.name)])
    }

    private typealias Contents = (accessors: [[String]], relations: Relations, ignoring: [[String]])

    /// Nil, after saying why, if the accessors cannot be written.
    private static func ofEnum(
      _ cases: [Conditional<WrapperCase>], _ host: Host, _ context: some MacroExpansionContext
    ) -> Contents? {
      guard !hasClashes(cases, host, context) else { return nil }
      warn(of: cases.flatMap(\.flattened), in: host, context)
      let accessors = CaseAccessors(host: host, cases: cases.flatMap(\.flattened))
      return (
        [cases.caseLines { accessors.declarations(for: $0) }].filter { !$0.isEmpty },
        Relations(of: cases, host: host, in: context), []
      )
    }

    private static func warn(of cases: [WrapperCase], in host: Host, _ context: some MacroExpansionContext) {
      if cases.allSatisfy(\.payloads.isEmpty) {
        context.report(.wrapsNothing(host.name), at: host.declaration.introducer)
      }
    }

    private static func ofStruct(
      _ properties: StoredProperties, _ context: some MacroExpansionContext
    ) -> Contents {
      properties.warn(in: context)
      return ([], Relations(of: properties, in: context), properties.ignoring)
    }

    /// Reports the accessors that cannot be declared, because a method or the accessor of another case has the name.
    private static func hasClashes(
      _ cases: [Conditional<WrapperCase>], _ host: Host, _ context: some MacroExpansionContext
    ) -> Bool {
      var owners: [String: String] = [:]
      var hasClashes = false
      for wrapperCase in cases.flatMap(\.flattened) {
        for name in wrapperCase.payloads.map(\.accessorLabel) where !host.declaresProperty(name) {
          // The same case in two branches of an `#if` is no clash.
          let owner = owners.updateValue(wrapperCase.signature, forKey: name) ?? wrapperCase.signature
          guard host.declaresMethod(name) || owner != wrapperCase.signature else { continue }
          context.report(.accessorClash(name, case: wrapperCase.label), at: wrapperCase.name)
          hasClashes = true
        }
      }
      return hasClashes
    }
  }
#endif
