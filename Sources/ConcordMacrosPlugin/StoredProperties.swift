#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The stored properties of a struct, in order.
  struct StoredProperties {
    let host: Host
    let all: [Conditional<StoredProperty>]
    /// Those in which entities are looked for.
    let parts: [Conditional<StoredProperty>]

    init(of host: Host) {
      self.host = host
      let members = host.declaration.memberBlock.members
      func properties(where isIncluded: (StoredProperty) -> Bool) -> [Conditional<StoredProperty>] {
        members.conditionalMap { member in
          member.as(VariableDeclSyntax.self)?.storedProperties.filter(isIncluded) ?? []
        }
      }
      all = properties { !$0.isLazy && !$0.holdsPack }
      parts = properties { !$0.isLazy && !$0.holdsPack && !$0.isIgnored }
    }

    /// Says what the spelling alone tells; the rest is found by the types, in the generated code.
    func warn(in context: some MacroExpansionContext) {
      for member in host.members {
        for property in member.as(VariableDeclSyntax.self)?.storedProperties ?? [] where !property.isIgnored {
          if property.isLazy {
            context.report(.lazyProperty(property.label), at: property.name)
          } else if property.isCertainlyConstantRelation(in: host) {
            context.report(
              .constantRelation(property.label), at: property.name, fixIts: [property.declaration.fixItToVar])
          }
        }
      }
    }
  }

  extension StoredProperty {
    /// Whether it is a `let` that holds entities beyond doubt: of the type itself, or of a type declared in it as an entity.
    ///
    /// Every other `let` is judged by the overloads of `EntityRelations.add`, which know the type.
    func isCertainlyConstantRelation(in host: Host) -> Bool {
      guard isConstant, let type else { return false }
      return type.isMade(of: host.knownEntities)
    }
  }

  extension VariableDeclSyntax {
    /// `let` becomes `var`.
    fileprivate var fixItToVar: FixIt {
      FixIt(
        message: Remedy(id: "declareWithVar", message: "declare it with 'var'"),
        changes: [
          .replace(
            oldNode: Syntax(bindingSpecifier),
            newNode: Syntax(bindingSpecifier.with(\.tokenKind, .keyword(.var))))
        ])
    }
  }

  extension TypeSyntax {
    /// Whether it is spelled as one of these names, or as an optional, an array, a set or a dictionary of one.
    fileprivate func isMade(of names: Set<String>) -> Bool {
      if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.isMade(of: names) }
      if let array = self.as(ArrayTypeSyntax.self) { return array.element.isMade(of: names) }
      if let dictionary = self.as(DictionaryTypeSyntax.self) { return dictionary.value.isMade(of: names) }
      guard let identifier = self.as(IdentifierTypeSyntax.self) else { return false }
      guard let arguments = identifier.genericArgumentClause?.arguments else {
        return names.contains(identifier.name.text)
      }
      guard ["Optional", "Array", "Set", "Dictionary", "ArraySlice", "ContiguousArray"].contains(identifier.name.text),
        case .type(let last) = arguments.last?.argument
      else { return false }
      return last.isMade(of: names)
    }
  }
#endif
