#if Macros
  import SwiftSyntax

  /// A property that takes room in the value: what a relation can stand in.
  struct StoredProperty {
    /// The name, at which diagnostics of the property are shown.
    let name: TokenSyntax
    let type: TypeSyntax?
    let initializer: ExprSyntax?
    let declaration: VariableDeclSyntax

    /// The name as it is spelled, with backticks if it has any.
    var spelling: String { name.text }

    /// The name without backticks.
    var label: String { name.identifier?.name ?? name.text }

    var isConstant: Bool { declaration.bindingSpecifier.tokenKind == .keyword(.let) }

    /// Whether a computed property can be written, as far as its accessors tell.
    var hasSetter: Bool {
      declaration.bindings.contains { binding in
        guard case .accessors(let accessors) = binding.accessorBlock?.accessors else { return false }
        return accessors.contains { [.keyword(.set), .keyword(._modify)].contains($0.accessorSpecifier.tokenKind) }
      }
    }

    var isLazy: Bool { declaration.modifiers.contains(keyword: .lazy) }

    /// `@EntityIgnored` says that no entity in it is to be followed.
    var isIgnored: Bool { declaration.attributes.contains(attribute: "EntityIgnored") }

    /// `@Transient` says that it is not stored in a row.
    var isTransient: Bool { declaration.attributes.contains(attribute: "Transient") }

    /// Whether its type contains a parameter pack, which can be neither an entity nor an `Any`.
    var holdsPack: Bool {
      type?.tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .keyword(.repeat) } ?? false
    }

    /// A property wrapper, or a macro that makes it computed, may leave it without a setter, and may give it to an actor.
    var mayLackSetter: Bool {
      declaration.attributes.contains { element in
        element.as(AttributeSyntax.self).map { !Self.harmlessAttributes.contains($0.attributeName.trimmedDescription) }
          ?? false
      }
    }

    private static let harmlessAttributes: Set<String> = [
      "available", "usableFromInline", "EntityIgnored", "Attribute", "Transient",
    ]

    var availability: Availability { Availability(declaration.attributes) }
  }

  extension VariableDeclSyntax {
    var isStatic: Bool { modifiers.contains(keyword: .static) || modifiers.contains(keyword: .class) }

    /// The stored properties of `var a, b: Int`, `var (c, d) = …` and so on; none for a computed or static one.
    var storedProperties: [StoredProperty] { isStatic ? [] : properties { !$0.isComputed } }

    /// All properties of the declaration, also computed and static ones.
    var allProperties: [StoredProperty] { properties { _ in true } }

    private func properties(where isIncluded: (PatternBindingSyntax) -> Bool) -> [StoredProperty] {
      var properties: [StoredProperty] = []
      var type: TypeSyntax?
      for binding in bindings.reversed() {
        // In `var a, b: Int` the type belongs to `a` too.
        type = binding.typeAnnotation?.type ?? (binding.initializer == nil ? type : nil)
        guard isIncluded(binding) else { continue }
        let names = binding.pattern.boundNames(type: type, initializer: binding.initializer?.value)
        let found = names.map { name, type, initializer in
          StoredProperty(name: name, type: type?.trimmed, initializer: initializer, declaration: self)
        }
        properties.insert(contentsOf: found, at: 0)
      }
      return properties
    }
  }

  extension PatternBindingSyntax {
    /// Whether the binding has a getter; `willSet` and `didSet` leave it stored.
    fileprivate var isComputed: Bool {
      switch accessorBlock?.accessors {
      case nil: false
      case .getter: true
      case .accessors(let accessors):
        accessors.contains { ![.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind) }
      }
    }
  }

  extension PatternSyntax {
    /// The names a pattern binds, each with the part of the type and of the initial value that belongs to it.
    fileprivate func boundNames(
      type: TypeSyntax?, initializer: ExprSyntax?
    ) -> [(TokenSyntax, TypeSyntax?, ExprSyntax?)] {
      if let identifier = self.as(IdentifierPatternSyntax.self) {
        return [(identifier.identifier, type, initializer)]
      }
      guard let tuple = self.as(TuplePatternSyntax.self) else { return [] }
      let types = type?.as(TupleTypeSyntax.self).map { $0.elements.map(\.type) } ?? []
      let values = initializer?.as(TupleExprSyntax.self).map { $0.elements.map(\.expression) } ?? []
      return tuple.elements.enumerated().flatMap { index, element in
        element.pattern.boundNames(
          type: types.indices.contains(index) ? types[index] : nil,
          initializer: values.indices.contains(index) ? values[index] : nil)
      }
    }
  }
#endif
