#if Macros
  import SwiftSyntax

  /// A case of an enum.
  struct WrapperCase {
    /// The name, at which diagnostics of the case are shown.
    let name: TokenSyntax
    /// The name as it is spelled, with backticks if it has any.
    let spelling: String
    /// The name without backticks.
    let label: String
    private(set) var payloads: [Payload]
    /// Whether another case has the same name and other labels, so that the labels tell which is meant.
    let isOverloaded: Bool
    let availability: Availability

    /// The payloads in which entities are searched.
    var followed: [Payload] { payloads.filter { !$0.type.isPlain } }

    /// The name with all labels, which no other case has: `media(book:)`.
    var signature: String { WrapperCase.signature(name: label, labels: payloads.map(\.label)) }

    private static func signature(name: String, labels: [String?]) -> String {
      "\(name)(\(labels.map { ($0 ?? "_") + ":" }.joined()))"
    }

    /// The signature of a case as it is written.
    static func signature(of element: EnumCaseElementSyntax) -> String {
      let labels = element.parameterClause?.parameters.map { $0.firstName.map(\.text) } ?? []
      return signature(name: element.name.identifier?.name ?? element.name.text, labels: labels)
    }

    /// One associated value, and the computed property through which it is reached.
    struct Payload {
      let index: Int
      /// The label as it is spelled in an argument list, where only few names need backticks.
      let label: String?
      /// The label without backticks.
      let plainLabel: String?
      let type: TypeSyntax
      /// The accessor's name as it is spelled behind a dot.
      fileprivate(set) var accessor: String
      /// The accessor's name without backticks.
      fileprivate(set) var accessorLabel: String
      /// The name of the column in which the payload is stored.
      let columnLabel: String

      /// The accessor's type: the payload's, made optional once.
      var accessorType: String {
        let text = type.trimmedDescription
        if isOptional { return text }
        switch type.kind {
        case .identifierType, .memberType, .arrayType, .dictionaryType, .tupleType: return "\(text)?"
        default: return "(\(text))?"
        }
      }

      /// Whether a property of this type, as it is spelled, holds the payload.
      fileprivate func isHeld(by type: TypeSyntax?) -> Bool {
        guard let type else { return false }
        let text = self.type.trimmedDescription
        let spellings = isOptional ? [text] : [text, accessorType, "Optional<\(text)>", "Swift.Optional<\(text)>"]
        return spellings.contains(type.trimmedDescription)
      }

      var isOptional: Bool {
        type.is(OptionalTypeSyntax.self) || type.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
      }
    }

    init(_ element: EnumCaseElementSyntax, of declaration: EnumCaseDeclSyntax, isOverloaded: Bool) {
      self.isOverloaded = isOverloaded
      availability = Availability(declaration.attributes)
      name = element.name
      spelling = element.name.text
      let parameters = Array(element.parameterClause?.parameters ?? [])
      label = element.name.identifier?.name ?? spelling
      let isAlone = parameters.count == 1 && !isOverloaded
      var payloads: [Payload] = []
      for (index, parameter) in parameters.enumerated() {
        let name = parameter.firstName.flatMap { $0.tokenKind == .wildcard ? nil : $0 }
        // `pair(book: Book, Game)` is reached by `pairBook` and `pair1`: no one of them is the case.
        let suffix = name.map { ($0.identifier?.name ?? $0.text).capitalized } ?? "\(index)"
        payloads.append(
          Payload(
            index: index, label: name.map(\.argumentLabel), plainLabel: name.map { $0.identifier?.name ?? $0.text },
            type: parameter.type.trimmed, accessor: isAlone ? spelling : (label + suffix).asIdentifier,
            accessorLabel: isAlone ? label : label + suffix, columnLabel: isAlone ? label : label + suffix))
      }
      self.payloads = payloads
    }

    /// Renames accessors whose name a property of the user's has with another type: through that property, no entity would be
    /// followed, and nothing be stored.
    mutating func renameAccessors(in host: Host) {
      for index in payloads.indices {
        let name = payloads[index].accessorLabel
        guard let property = host.properties.first(where: { $0.label == name }),
          !payloads[index].isHeld(by: property.type)
        else { continue }
        var free = "_" + name
        while host.declaresProperty(free) || host.declaresMethod(free) { free = "_" + free }
        payloads[index].accessorLabel = free
        payloads[index].accessor = free.asIdentifier
      }
    }

    /// `.pair(let value0, _)`: the pattern that binds the payloads `isBound` asks for.
    func pattern(binding isBound: (Int) -> Bool = { _ in true }) -> String {
      let bindings = payloads.map { isBound($0.index) ? "let value\($0.index)" : "_" }
      return bindings.isEmpty ? ".\(spelling)" : ".\(spelling)(\(bindings.joined(separator: ", ")))"
    }

    /// Returns the condition that `self` is this case: `case .pair(let value0, _) = self`, which binds the payloads `isBound` asks for.
    ///
    /// The compiler takes a pattern with labels for the last case of that name, whatever the labels. So cases that only
    /// differ by their labels are told apart at run time.
    func condition(binding isBound: (Int) -> Bool = { _ in true }) -> String {
      guard isOverloaded else {
        let pattern = pattern(binding: isBound)
        // What binds nothing needs no payloads.
        return "case \(pattern.contains("let ") ? pattern : ".\(spelling)") = self"
      }
      let bindings = payloads.filter { isBound($0.index) }.map { "let value\($0.index) = \(reflected($0))" }
      return bindings.isEmpty ? "Concord._isCase(self, \(reflectedName))" : bindings.joined(separator: ", ")
    }

    /// The payload, if `self` is this case.
    func value(of payload: Payload) -> String {
      if isOverloaded { return reflected(payload) }
      return "if \(condition { $0 == payload.index }) { value\(payload.index) } else { nil }"
    }

    private func reflected(_ payload: Payload) -> String {
      "Concord._payload(\(payload.index), as: (\(payload.type.trimmedDescription)).self, of: self, \(reflectedName))"
    }

    private var reflectedName: String {
      let labels = payloads.map { $0.plainLabel?.literal ?? "nil" }.joined(separator: ", ")
      return "case: \(label.literal), labels: [\(labels)]"
    }

    /// `.pair(book: value0, value1)`: the case made of these expressions.
    func construction(_ value: (Int) -> String) -> String {
      let arguments = payloads.map { ($0.label.map { "\($0): " } ?? "") + value($0.index) }
      return arguments.isEmpty ? ".\(spelling)" : ".\(spelling)(\(arguments.joined(separator: ", ")))"
    }
  }

  extension TokenSyntax {
    /// The name as an argument's label: any keyword can be one, but for these.
    fileprivate var argumentLabel: String {
      guard let name = identifier?.name, !["inout", "var", "let"].contains(name) else { return text }
      // A raw identifier, as in `two words`, keeps its backticks.
      return name.asIdentifier
    }
  }

  extension String {
    /// With a capital first letter.
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
  }

  extension Host {
    /// The cases of an enum that can be mentioned, in order; none for a struct.
    var cases: [Conditional<WrapperCase>] {
      // The same case may stand in two branches of an `#if`.
      let signatures = Set(
        members.flatMap { $0.as(EnumCaseDeclSyntax.self)?.elements.map(WrapperCase.signature) ?? [] })
      let names = signatures.map { $0.prefix { $0 != "(" } }
      return declaration.memberBlock.members.conditionalMap { member in
        guard let declaration = member.as(EnumCaseDeclSyntax.self) else { return [] }
        let cases = declaration.elements.map { element in
          let name = element.name.identifier?.name ?? element.name.text
          var wrapperCase = WrapperCase(element, of: declaration, isOverloaded: names.count { $0 == name } > 1)
          wrapperCase.renameAccessors(in: self)
          return wrapperCase
        }
        return cases.filter { !$0.availability.isUnavailable }
      }
    }
  }

  extension Sequence where Element == Conditional<WrapperCase> {
    /// The lines for each case, on the platforms that have it.
    func caseLines(_ line: (WrapperCase) -> [String]) -> [String] {
      lines { wrapperCase in
        let lines = line(wrapperCase)
        guard let condition = wrapperCase.availability.condition, !lines.isEmpty else { return lines }
        return ["#if \(condition)"] + lines + ["#endif"]
      }
    }
  }
#endif
