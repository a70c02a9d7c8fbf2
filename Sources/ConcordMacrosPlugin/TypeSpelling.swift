#if Macros
  import SwiftSyntax

  extension TypeSyntax {
    /// Whether the type is spelled as one of these names, or as an optional, an array, a set or a dictionary of one.
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
#endif
