#if Macros
  import SwiftSyntaxMacros

  /// `@Attribute`: what else `@PersistentEntity` is to know of a property.
  struct AttributeMacro: PropertyMark {}

  /// `@Transient`: a property that `@PersistentEntity` does not store.
  struct TransientMacro: PropertyMark {}
#endif
