#if Macros
  import SwiftSyntax

  /// A case of an enum.
  struct WrapperCase {
    /// Where diagnostics about it point.
    let name: TokenSyntax
    /// The name as it is spelled, with backticks if it has any.
    let spelling: String
    /// The name without backticks.
    let label: String
    let payloads: [Payload]

    /// One associated value, and the computed property through which it is reached.
    struct Payload {
      let index: Int
      let label: String?
      let type: TypeSyntax
      /// As it is spelled behind a dot.
      let accessor: String
      /// The same without backticks.
      let accessorLabel: String

      /// The accessor's type: the payload's, made optional once.
      var accessorType: String {
        let text = type.trimmedDescription
        if isOptional { return text }
        switch type.kind {
        case .identifierType, .memberType, .arrayType, .dictionaryType, .tupleType: return "\(text)?"
        default: return "(\(text))?"
        }
      }

      var isOptional: Bool {
        type.is(OptionalTypeSyntax.self) || type.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
      }
    }

    init(_ element: EnumCaseElementSyntax) {
      name = element.name
      spelling = element.name.text
      let parameters = Array(element.parameterClause?.parameters ?? [])
      label = element.name.identifier?.name ?? spelling
      let isAlone = parameters.count == 1
      var payloads: [Payload] = []
      for (index, parameter) in parameters.enumerated() {
        let name = parameter.firstName.flatMap { $0.tokenKind == .wildcard ? nil : $0 }
        // `pair(book: Book, Game)` is reached by `pairBook` and `pair1`: no one of them is the case.
        let suffix = name.map { ($0.identifier?.name ?? $0.text).capitalized } ?? "\(index)"
        payloads.append(
          Payload(
            index: index, label: name?.text, type: parameter.type.trimmed,
            accessor: isAlone ? spelling : label + suffix, accessorLabel: isAlone ? label : label + suffix))
      }
      self.payloads = payloads
    }

    /// `.pair(let value0, _)`: the pattern that binds the payloads `isBound` asks for.
    func pattern(binding isBound: (Int) -> Bool = { _ in true }) -> String {
      let bindings = payloads.map { isBound($0.index) ? "let value\($0.index)" : "_" }
      return bindings.isEmpty ? ".\(spelling)" : ".\(spelling)(\(bindings.joined(separator: ", ")))"
    }

    /// `.pair(book: value0, value1)`: the case made of these expressions.
    func construction(_ value: (Int) -> String) -> String {
      let arguments = payloads.map { ($0.label.map { "\($0): " } ?? "") + value($0.index) }
      return arguments.isEmpty ? ".\(spelling)" : ".\(spelling)(\(arguments.joined(separator: ", ")))"
    }
  }

  extension String {
    /// With a capital first letter.
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
  }

  extension Host {
    /// The cases of an enum, in order; none for a struct.
    var cases: [Conditional<WrapperCase>] {
      declaration.memberBlock.members.conditionalMap { member in
        member.as(EnumCaseDeclSyntax.self)?.elements.map(WrapperCase.init) ?? []
      }
    }
  }
#endif
