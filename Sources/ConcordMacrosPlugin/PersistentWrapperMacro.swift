#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// `@PersistentWrapper`: makes an enum or a struct a `PersistentWrapper`, and all that `@EntityWrapper` makes it.
  struct PersistentWrapperMacro: ExtensionMacro {
    static var formatMode: FormatMode { .disabled }

    static func expansion(
      of node: AttributeSyntax,
      attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol,
      conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      declaration.reportTwin("EntityWrapper", of: node, in: context)
      guard let wrapper = WrapperExtension(of: node, attachedTo: declaration, missing: protocols, in: context)
      else { return [] }
      var members = wrapper.members
      if wrapper.conformances.needMembers(of: "PersistentWrapper") {
        switch wrapper.parts {
        case .cases(let cases):
          guard let cases = PersistentCases(of: cases, host: wrapper.host, in: context) else { return [] }
          members += cases.members
        case .properties(let properties):
          guard let properties = PersistentProperties(of: properties, in: context) else { return [] }
          members += properties.members(
            initializer: "init(case name: Swift.String, from row: inout ConcordModel.RowReader) throws")
        }
      }
      return wrapper.conformances.extending(type, with: wrapper.protocols + ["PersistentWrapper"], members: members)
    }
  }
#endif
