#if Macros
  import SwiftCompilerPlugin
  import SwiftSyntaxMacros

  @main
  struct ConcordMacrosPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
      EntityMacro.self, EntityWrapperMacro.self, EntityIgnoredMacro.self, ConsistentMacro.self,
      ProjectionMacro.self, PersistentEntityMacro.self, PersistentWrapperMacro.self, AttributeMacro.self,
      TransientMacro.self,
    ]
  }
#else
  /// Without the trait `Macros` nothing depends on this executable; it is only there so that a plain `swift build`,
  /// which builds every target, has a program to link.
  @main
  enum ConcordMacrosPlugin {
    static func main() {}
  }
#endif
