#if Macros
  import SwiftSyntax

  extension TypeSyntax {
    /// Whether it is spelled as one of these names, or as an optional, an array, a set or a dictionary of one.
    func isMade(of names: Set<String>) -> Bool {
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

  extension Host {
    /// The parameter of the generic type that a value of this type holds without being known as an entity.
    ///
    /// Overloads are chosen for all instances of a generic type at once, so what is an entity in one instance only is
    /// never followed.
    func openParameter(holding type: TypeSyntax?) -> String? {
      guard let type, let parameters = declaration.asProtocol((any WithGenericParametersSyntax).self) else {
        return nil
      }
      let requirements = parameters.genericWhereClause?.requirements.map { $0.requirement } ?? []
      return parameters.genericParameterClause?.parameters.map(\.name.text).first { name in
        guard type.isMade(of: [name]) else { return false }
        let inherited = parameters.genericParameterClause?.parameters.first { $0.name.text == name }?.inheritedType
        var protocols = inherited?.protocolNames ?? []
        for requirement in requirements {
          switch requirement {
          case .conformanceRequirement(let conformance) where conformance.leftType.trimmedDescription == name:
            protocols += conformance.rightType.protocolNames
          case .sameTypeRequirement(let same) where same.tokens(viewMode: .sourceAccurate).contains { $0.text == name }:
            return false
          default: break
          }
        }
        return protocols.allSatisfy(Conformances.saysNothingOfEntities)
      }
    }
  }

  extension TypeSyntax {
    /// `["A", "B"]` for `A & B`.
    fileprivate var protocolNames: [String] {
      guard let composition = self.as(CompositionTypeSyntax.self) else { return [trimmedDescription] }
      return composition.elements.map(\.type.trimmedDescription)
    }
  }
#endif
