#if Macros
  @testable import ConcordMacrosPlugin
  import SwiftDiagnostics
  import SwiftParser
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacros

  /// What the macros make of a piece of source, taken apart so that a test can name what it is about.
  struct Expansion {
    /// `3:7 warning: …`, in order.
    let diagnostics: [String]

    /// What the fix-its say they do, in order.
    let fixIts: [String]

    /// The source after each fix-it alone, by what the fix-it says.
    let fixed: [String: String]

    /// The extension that was added; a macro never adds a second one for a type.
    let added: ExtensionDeclSyntax?

    /// - Parameter conforming: the protocols to which the types conform already, as the compiler would say.
    init(_ source: String, conforming: Set<String> = []) {
      let file = Parser.parse(source: source)
      let context = BasicMacroExpansionContext(
        sourceFiles: [file: .init(moduleName: "Shop", fullFilePath: "Shop.swift")])
      let expansion = file.expand(
        macroSpecs: Expansion.specs(conforming: conforming),
        contextGenerator: {
          BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
        },
        indentationWidth: .spaces(2))
      // What is added is text, which the compiler parses.
      let statements = Parser.parse(source: expansion.description).statements
      let isChanged = statements.count > file.statements.count
      added = isChanged ? statements.last?.item.as(ExtensionDeclSyntax.self) : nil
      fixIts = context.diagnostics.flatMap { $0.fixIts.map(\.message.message) }
      var fixed: [String: String] = [:]
      for fixIt in context.diagnostics.flatMap(\.fixIts) {
        fixed[fixIt.message.message] = Expansion.apply(fixIt, to: source, in: context)
      }
      self.fixed = fixed
      diagnostics = context.diagnostics.map { diagnostic in
        let place = context.location(for: diagnostic.position, anchoredAt: diagnostic.node, fileName: "Shop.swift")
        return "\(place.line):\(place.column) \(diagnostic.diagMessage.severity): \(diagnostic.message)"
      }
    }

    private static func apply(_ fixIt: FixIt, to source: String, in context: BasicMacroExpansionContext) -> String {
      var bytes = Array(source.utf8)
      for case .replace(let old, let new) in fixIt.changes {
        let start = context.location(for: old.position, anchoredAt: old, fileName: "Shop.swift").offset
        bytes.replaceSubrange(start..<start + old.totalLength.utf8Length, with: Array(new.description.utf8))
      }
      return String(decoding: bytes, as: UTF8.self)
    }

    static func specs(conforming: Set<String> = []) -> [String: MacroSpec] {
      func spec(_ type: any Macro.Type, _ protocols: [String]) -> MacroSpec {
        MacroSpec(
          type: type, conformances: protocols.filter { !conforming.contains($0) }.map { TypeSyntax(stringLiteral: $0) })
      }
      return [
        "Entity": spec(EntityMacro.self, ["Identifiable", "Aggregate", "EntityIgnoring"]),
        "EntityWrapper": spec(EntityWrapperMacro.self, ["EntityWrapper", "EntityIgnoring"]),
        "Consistent": spec(
          ConsistentMacro.self, ["Identifiable", "ConsistentValue", "ConsistentObject", "StaticallyConsistent"]),
        "Projection": spec(ProjectionMacro.self, ["EntityProjection"]),
        "EntityIgnored": spec(EntityIgnoredMacro.self, []),
        "PersistentEntity": spec(
          PersistentEntityMacro.self, ["Identifiable", "Aggregate", "EntityIgnoring", "PersistentEntity"]),
        "PersistentWrapper": spec(
          PersistentWrapperMacro.self, ["EntityWrapper", "EntityIgnoring", "PersistentWrapper"]),
        "Attribute": spec(AttributeMacro.self, []), "Transient": spec(TransientMacro.self, []),
      ]
    }

    /// The type that was extended.
    var type: String? { added?.extendedType.trimmedDescription }

    /// The last names of the protocols it was conformed to.
    var conformances: [String] {
      added?.inheritanceClause?.inheritedTypes.compactMap {
        $0.type.trimmedDescription.split { $0 == "." || $0 == " " }.last.map(String.init)
      } ?? []
    }

    /// The names of the members that were added.
    var members: [String] { added?.memberBlock.members.compactMap { $0.decl.memberName } ?? [] }

    /// The members of that name, as they are written.
    func member(_ name: String) -> String? {
      added?.memberBlock.members.first { $0.decl.memberName == name }?.decl.trimmed.description
        .split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.hasPrefix("  ") ? String($0.dropFirst(2)) : String($0) }.joined(separator: "\n")
    }

    /// How the properties are described: `["\"title\", \\Self.title"]`, with the `#if` lines between them.
    var described: [String] {
      (member("persistentProperties") ?? "").split(separator: "\n").compactMap { line in
        let line = line.drop { $0 == " " }
        if line.hasPrefix("#") && !line.hasPrefix("#sourceLocation") { return String(line) }
        guard let start = line.firstRange(of: #/(^\.|PersistentProperty<Self>\.)init\(/#)?.upperBound else {
          return nil
        }
        // The last parenthesis is that of `append`, and the one before it, if nothing follows, that of `init`.
        let text = line[start...].dropLast()
        return String(text.contains("._default(") ? text : text.dropLast())
      }
    }

    /// What was offered to the store: `["\\Self.author"]`, with the `#if` lines between them.
    var relations: [String] {
      (member("fixedRelations") ?? "").split(separator: "\n").compactMap { line in
        let line = line.drop { $0 == " " }
        if line.hasPrefix("#") && !line.hasPrefix("#sourceLocation") { return String(line) }
        guard let start = line.firstRange(of: #/\.(add|addConstant)\(/#)?.upperBound else { return nil }
        return String(line[start...].dropLast())
      }
    }
  }

  extension DeclSyntax {
    fileprivate var memberName: String? {
      if let function = self.as(FunctionDeclSyntax.self) { return function.name.text }
      if self.is(InitializerDeclSyntax.self) { return "init" }
      return self.as(VariableDeclSyntax.self)?.bindings.first?.pattern.trimmedDescription
    }
  }
#endif
