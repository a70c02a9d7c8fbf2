#if Macros
  import SwiftSyntax

  /// Types of the standard library and of Foundation in which no entity can stand, by the names everybody knows.
  ///
  /// Most properties have one of them. Offering each to the overloads of `EntityRelations.add` is what takes the compiler
  /// its time, so they are left out. A type of the user's may have the same name, so what is generated names each of them
  /// once, for the compiler to check.
  struct PlainTypes {
    /// The names met, each once, in order, and what it was first met at.
    private(set) var names: [(name: String, place: TokenSyntax)] = []

    init(in types: some Sequence<(TypeSyntax?, TokenSyntax)>) {
      for (type, place) in types {
        guard let name = type?.plainName, !names.contains(where: { $0.name == name }) else { continue }
        names.append((name, place))
      }
    }

    static let known: Set<String> = [
      "Bool", "Character", "Data", "Date", "Decimal", "Double", "Duration", "Float", "Int", "Int8", "Int16", "Int32",
      "Int64", "String", "Substring", "TimeInterval", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "URL", "UUID",
    ]
  }

  extension TypeSyntax {
    /// The name of the plain type that this is, or that this is an optional, an array, a set or a dictionary of.
    fileprivate var plainName: String? {
      if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.plainName }
      if let array = self.as(ArrayTypeSyntax.self) { return array.element.plainName }
      if let dictionary = self.as(DictionaryTypeSyntax.self) { return dictionary.value.plainName }
      guard let identifier = self.as(IdentifierTypeSyntax.self) else { return nil }
      if let arguments = identifier.genericArgumentClause?.arguments {
        // A type of the user's by such a name may hold something else besides.
        guard ["Optional", "Array", "Set"].contains(identifier.name.text), arguments.count == 1,
          case .type(let element) = arguments.first?.argument
        else { return nil }
        return element.plainName
      }
      return PlainTypes.known.contains(identifier.name.text) ? identifier.name.text : nil
    }

    /// Whether a function stands here: a value that is nothing but code.
    fileprivate var isFunction: Bool {
      self.is(FunctionTypeSyntax.self) || self.as(AttributedTypeSyntax.self)?.baseType.isFunction == true
    }

    /// Whether nothing of this type can hold an entity, as far as its spelling tells.
    var isPlain: Bool { plainName != nil || isFunction }
  }

  extension StoredProperty {
    /// Whether no entity can stand in it, which its type or its initial value says.
    var isPlain: Bool {
      if let type { return type.isPlain }
      switch initializer?.kind {
      case .booleanLiteralExpr, .integerLiteralExpr, .floatLiteralExpr, .stringLiteralExpr: return true
      default: return false
      }
    }
  }
#endif
