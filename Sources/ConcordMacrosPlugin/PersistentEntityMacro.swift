#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// `@PersistentEntity`: makes a struct a `PersistentEntity`, and all that `@Entity` makes it.
  struct PersistentEntityMacro: ExtensionMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
      of node: AttributeSyntax,
      attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol,
      conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      declaration.reportTwin("Entity", of: node, in: context)
      guard let entity = EntityExtension(of: node, attachedTo: declaration, missing: protocols, in: context),
        let properties = PersistentProperties(of: entity.properties, in: context)
      else { return [] }
      var members = entity.members
      if entity.conformances.needMembers(of: "PersistentEntity") {
        members += properties.members(initializer: "init(from row: inout ConcordModel.RowReader) throws")
      }
      return entity.conformances.extending(type, with: entity.protocols + ["PersistentEntity"], members: members)
    }
  }

  extension DeclGroupSyntax {
    /// Reports a second attached macro whose work this one does, too.
    func reportTwin(_ twin: String, of node: AttributeSyntax, in context: some MacroExpansionContext) {
      guard let attribute = attributes.attribute(named: twin) else { return }
      let fixIts = [DeclSyntax(self).flatMap { attribute.fixItToRemove(from: $0) }].compactMap { $0 }
      context.report(.twin(twin, of: node.name), at: attribute, fixIts: fixIts)
    }
  }
#endif
