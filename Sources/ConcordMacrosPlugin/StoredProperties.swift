#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The stored properties of a struct, in order.
  struct StoredProperties {
    let host: Host
    let all: [Conditional<StoredProperty>]
    /// The names of those marked `@EntityIgnored`.
    let ignored: [String]
    /// The properties in which entities are searched.
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
      ignored = properties(where: \.isIgnored).flatMap(\.flattened).map(\.label)
      parts = properties { !$0.isLazy && !$0.holdsPack && !$0.isIgnored }
    }

    /// The member that names the properties which a debug build does not search for entities.
    var ignoring: [[String]] {
      guard !ignored.isEmpty, !host.declaresStatic("ignoredEntityProperties") else { return [] }
      // The same property may stand in two branches of an `#if`.
      let names = ignored.enumerated().filter { !ignored[..<$0].contains($1) }.map { $1.literal }
      return [
        [
          "\(host.access)nonisolated static var ignoredEntityProperties: Swift.Set<Swift.String> {",
          "  [\(names.joined(separator: ", "))]",
          "}",
        ]
      ]
    }

    /// Reports the problems that are visible in the spelling; the generated code finds the rest by types.
    func warn(in context: some MacroExpansionContext) {
      for member in host.members {
        for property in member.as(VariableDeclSyntax.self)?.storedProperties ?? []
        where !property.isIgnored && !property.isTransient {
          let ignoring = property.declaration.fixItToIgnored
          if property.isLazy {
            context.report(.lazyProperty(property.label), at: property.name, fixIts: [ignoring])
          } else if property.holdsPack && !property.isPlain {
            context.report(.pack(property.label), at: property.name, fixIts: [ignoring])
          } else if property.isCertainlyConstantRelation(in: host) {
            context.report(
              .constantRelation(property.label), at: property.name,
              fixIts: [property.declaration.fixItToVar, ignoring])
          }
        }
      }
    }
  }

  extension StoredProperty {
    /// Whether the property is a `let` that holds entities beyond doubt: of the type itself, or of a type declared in it as an entity.
    ///
    /// Every other `let` is judged by the overloads of `EntityRelations.add`, which know the type.
    func isCertainlyConstantRelation(in host: Host) -> Bool {
      guard isConstant, let type else { return false }
      return type.isMade(of: host.knownEntities)
    }
  }
#endif
