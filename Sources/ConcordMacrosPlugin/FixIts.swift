#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The message of a fix-it.
  struct Remedy: FixItMessage {
    let id: String
    let message: String

    var fixItID: MessageID { MessageID(domain: "ConcordMacros", id: id) }
  }

  extension VariableDeclSyntax {
    /// `let` becomes `var`.
    var fixItToVar: FixIt {
      FixIt(
        message: Remedy(id: "declareWithVar", message: "declare it with 'var'"),
        changes: [
          .replace(
            oldNode: Syntax(bindingSpecifier),
            newNode: Syntax(bindingSpecifier.with(\.tokenKind, .keyword(.var))))
        ])
    }

    /// `@EntityIgnored` is put before it.
    var fixItToIgnored: FixIt { fixItToMark("EntityIgnored") }

    /// A mark is put before it.
    func fixItToMark(_ name: String) -> FixIt {
      var marked = self
      let leading = leadingTrivia
      marked.leadingTrivia = []
      let mark = AttributeSyntax(
        leadingTrivia: leading, attributeName: IdentifierTypeSyntax(name: .identifier(name)),
        trailingTrivia: .space)
      marked.attributes.insert(.attribute(mark), at: marked.attributes.startIndex)
      return FixIt(
        message: Remedy(id: "mark\(name)", message: "mark it '@\(name)'"),
        changes: [.replace(oldNode: Syntax(self), newNode: Syntax(marked))])
    }
  }

  extension StoredProperty {
    /// A fix-it that adds an initial value: a plain one if the type has one, otherwise a placeholder.
    var fixItToInitialize: FixIt? {
      guard let binding = declaration.bindings.first(where: { $0.pattern.trimmedDescription == name.text }) else {
        return nil
      }
      let value = type?.plainValue ?? "<#value#>"
      var initialized = binding
      // The space before what follows the type stands behind the value then.
      let trailing = (binding.typeAnnotation.map { Syntax($0) } ?? Syntax(binding.pattern)).trailingTrivia
      if binding.typeAnnotation == nil {
        initialized.pattern.trailingTrivia = []
      } else {
        initialized.typeAnnotation?.trailingTrivia = []
      }
      initialized.initializer = InitializerClauseSyntax(
        equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space),
        value: DeclReferenceExprSyntax(baseName: .identifier(value)), trailingTrivia: trailing)
      return FixIt(
        message: Remedy(id: "initialize", message: "write '= \(value)'"),
        changes: [.replace(oldNode: Syntax(binding), newNode: Syntax(initialized))])
    }
  }

  extension TypeSyntax {
    /// The empty value of this type, as source; `nil` if the type has none.
    fileprivate var plainValue: String? {
      if self.is(OptionalTypeSyntax.self) { return "nil" }
      if self.is(ArrayTypeSyntax.self) { return "[]" }
      if self.is(DictionaryTypeSyntax.self) { return "[:]" }
      switch trimmedDescription {
      case "Bool": return "false"
      case "String": return "\"\""
      case "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64":
        return "0"
      default: return nil
      }
    }
  }

  extension DeclGroupSyntax {
    /// Conformances are stated in an extension behind the type.
    func fixIt(toStateElsewhere names: Set<String>, of type: String) -> FixIt {
      var others = (inheritanceClause?.inheritedTypes ?? []).filter { !names.contains($0.type.trimmedDescription) }
      if let last = others.indices.last {
        others[last].trailingComma = nil
        others[last].trailingTrivia = .space
      }
      var plain = self
      let isEmpty = others.isEmpty
      plain.inheritanceClause = isEmpty ? nil : inheritanceClause?.with(\.inheritedTypes, others)
      if isEmpty { plain.memberBlock.leadingTrivia = .space }
      let list = inheritedTypes.filter(names.contains).joined(separator: ", ")
      plain.trailingTrivia = Trivia(pieces: [.newlines(1), .unexpectedText("extension \(type): \(list) {}")])
      return FixIt(
        message: Remedy(id: "stateElsewhere", message: "write 'extension \(type): \(list) {}'"),
        changes: [.replace(oldNode: Syntax(self), newNode: Syntax(plain))])
    }
  }

  extension AttributeSyntax {
    /// The attribute gets another name.
    func fixIt(toRename name: String) -> FixIt {
      let new = attributeName.as(IdentifierTypeSyntax.self).map {
        Syntax($0.with(\.name, .identifier(name, leadingTrivia: $0.leadingTrivia, trailingTrivia: $0.trailingTrivia)))
      }
      return FixIt(
        message: Remedy(id: "rename", message: "write '@\(name)'"),
        changes: [.replace(oldNode: Syntax(attributeName), newNode: new ?? Syntax(attributeName))])
    }

    /// The attribute goes.
    func fixItToRemove(from declaration: some DeclSyntaxProtocol) -> FixIt? {
      guard let host = declaration.asProtocol((any WithAttributesSyntax).self) else { return nil }
      var plain: any WithAttributesSyntax = host
      let name = attributeName.trimmedDescription
      plain.attributes = host.attributes.filter {
        $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription != name
      }
      plain.leadingTrivia = declaration.leadingTrivia
      return FixIt(
        message: Remedy(id: "remove", message: "remove '@\(attributeName.trimmedDescription)'"),
        changes: [.replace(oldNode: Syntax(declaration), newNode: Syntax(fromProtocol: plain))])
    }

    /// The attribute loses its argument.
    var fixItToPlain: FixIt {
      let plain = with(\.leftParen, nil).with(\.arguments, nil).with(\.rightParen, nil)
        .with(\.trailingTrivia, trailingTrivia)
      return FixIt(
        message: Remedy(id: "removeArgument", message: "remove 'id:'"),
        changes: [.replace(oldNode: Syntax(self), newNode: Syntax(plain))])
    }
  }

  extension DeclModifierSyntax {
    /// `private` becomes `fileprivate`.
    var fixItToFileprivate: FixIt {
      FixIt(
        message: Remedy(id: "declareFileprivate", message: "declare it 'fileprivate'"),
        changes: [
          .replace(oldNode: Syntax(name), newNode: Syntax(name.with(\.tokenKind, .keyword(.fileprivate))))
        ])
    }
  }
#endif
