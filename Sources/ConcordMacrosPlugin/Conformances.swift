#if Macros
  import SwiftSyntax

  /// The protocols to which a type conforms already, and those that the macro has to add.
  struct Conformances {
    /// The protocols that the type lacks according to the compiler, by their last names.
    private let missing: Set<String>
    private let spelled: Set<String>

    init(missing: [TypeSyntax], of declaration: some DeclGroupSyntax) {
      self.missing = Set(missing.map { Conformances.lastName($0.trimmedDescription) })
      spelled = Set(declaration.inheritedTypes.map(Conformances.lastName))
    }

    func lacks(_ name: String) -> Bool { missing.contains(name) }

    /// Whether the macro is to write what a protocol requires.
    ///
    /// A type that conforms already may do so in an extension that the macro cannot see, and then has its own members. It
    /// needs them if it only says that it conforms, itself or through a protocol of its user that refines this one.
    func needMembers(of name: String) -> Bool {
      lacks(name) || spelled.contains(name) || !spelled.subtracting(Conformances.wellKnown).isEmpty
    }

    /// An extension with these members that conforms `type` to those of `protocols` that it lacks; none if it is empty.
    func extending(
      _ type: some TypeSyntaxProtocol, with protocols: [String], members: [[String]]
    ) -> [ExtensionDeclSyntax] {
      // Entities are read on any thread, also those declared in a module whose default is another actor.
      let added = protocols.filter(lacks).map { "nonisolated \(Conformances.modules[$0] ?? "")\($0)" }
      guard !added.isEmpty || !members.isEmpty else { return [] }
      return [Extension(type: type.trimmedDescription, conformances: added, members: members).declaration]
    }

    private static func lastName(_ type: String) -> String { type.split(separator: ".").last.map(String.init) ?? type }

    private static let modules = [
      "Identifiable": "Swift.", "Aggregate": "Concord.", "EntityWrapper": "Concord.",
      "EntityIgnoring": "Concord.", "EntityProjection": "Concord.",
      "PersistentEntity": "ConcordModel.", "PersistentWrapper": "ConcordModel.",
      "ConsistentValue": "ConcordConsistency.", "ConsistentObject": "ConcordConsistency.",
      "StaticallyConsistent": "ConcordConsistency.",
    ]

    /// Protocols that say nothing of aggregates.
    private static let wellKnown: Set<String> = [
      "Identifiable", "Sendable", "@unchecked Sendable", "Equatable", "Hashable", "Comparable", "Codable", "Encodable",
      "Decodable", "CaseIterable", "CustomStringConvertible", "CustomDebugStringConvertible", "Error", "String", "Int",
    ]
  }
#endif
