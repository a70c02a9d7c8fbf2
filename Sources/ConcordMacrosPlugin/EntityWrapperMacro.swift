#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// `@EntityWrapper`: makes an enum, or a struct without identity, an `EntityWrapper` and a `ConsistentValue`.
  struct EntityWrapperMacro: ExtensionMacro {
    static func expansion(
      of node: AttributeSyntax,
      attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol,
      conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      guard declaration.is(EnumDeclSyntax.self) || declaration.is(StructDeclSyntax.self) else {
        context.report(
          .notAWrapper(declaration.kindInWords, name: declaration.nameInWords), at: declaration.introducer)
        return []
      }
      guard let host = Host(declaration, macro: "EntityWrapper", context: context) else { return [] }
      let contents = declaration.is(EnumDeclSyntax.self) ? ofEnum(host, context) : ofStruct(host, context)
      guard let contents else { return [] }

      let conformances = Conformances(missing: protocols, of: declaration)
      var members = contents.accessors
      if conformances.needMembers(of: "EntityWrapper"), !host.declaresMethod("wrappedEntitiesKeyPaths") {
        members.append(Relations.wrapped(contents.relations { Relations.statement(forWrapped: $0) }, in: host))
        members.append(Relations.fixed(contents.relations { Relations.statement(for: $0) }, in: host))
      }
      if conformances.lacks("ConsistentValue") {
        members += contents.consistency
      }
      return [try conformances.extending(type, with: ["EntityWrapper", "ConsistentValue"], members: members)]
        .compactMap { $0 }
    }

    private struct Contents {
      var accessors: [[String]]
      var consistency: [[String]]
      /// The lines for all parts, each made from the name through which the part is reached.
      var relations: ((String) -> String) -> [String]
    }

    /// Nil, after saying why, if the accessors cannot be written.
    private static func ofEnum(_ host: Host, _ context: some MacroExpansionContext) -> Contents? {
      let cases = host.cases
      guard !hasClashes(host, context) else { return nil }
      warn(of: cases.flatMap(\.flattened), in: host, context)
      let accessors = CaseAccessors(host: host, cases: cases.flatMap(\.flattened))
      return Contents(
        accessors: [cases.lines { accessors.declarations(for: $0) }].filter { !$0.isEmpty },
        consistency: Consistency(host: host).wrapperMembers(cases),
        relations: { statement in cases.lines { $0.payloads.map { statement($0.accessor) } } })
    }

    private static func warn(of cases: [WrapperCase], in host: Host, _ context: some MacroExpansionContext) {
      if cases.allSatisfy(\.payloads.isEmpty) {
        context.report(.wrapsNothing(host.name), at: host.declaration.introducer)
      }
      for wrapperCase in cases {
        let parameters = wrapperCase.payloads.compactMap { host.openParameter(holding: $0.type) }
        guard let parameter = parameters.first else { continue }
        context.report(.openPayload(wrapperCase.label, of: parameter), at: wrapperCase.name)
      }
    }

    private static func ofStruct(_ host: Host, _ context: some MacroExpansionContext) -> Contents {
      let properties = StoredProperties(of: host)
      properties.warn(in: context)
      return Contents(
        accessors: [], consistency: Consistency(host: host).wrapperMembers(properties),
        relations: { statement in
          properties.parts.lines { $0.isCertainlyConstantRelation(in: host) ? [] : [statement($0.spelling)] }
        })
    }

    /// Says which accessors cannot be declared, because a method or the accessor of another case has the name.
    private static func hasClashes(_ host: Host, _ context: some MacroExpansionContext) -> Bool {
      var owners: [String: String] = [:]
      var hasClashes = false
      for member in host.members {
        for element in member.as(EnumCaseDeclSyntax.self)?.elements ?? [] {
          let wrapperCase = WrapperCase(element)
          for name in wrapperCase.payloads.map(\.accessorLabel) where !host.declaresProperty(name) {
            // The same case in two branches of an `#if` is no clash.
            let owner = owners.updateValue(wrapperCase.label, forKey: name) ?? wrapperCase.label
            guard host.declaresMethod(name) || owner != wrapperCase.label else { continue }
            context.report(.accessorClash(name, case: wrapperCase.label), at: wrapperCase.name)
            hasClashes = true
          }
        }
      }
      return hasClashes
    }
  }
#endif
