#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The members for the properties of a struct that are stored in a row. The compiler chooses the storage of each by its
  /// type: the overloads of `PersistentProperty`, `RowReader` and `RowWriter`.
  struct PersistentProperties {
    private let host: Host
    private let stored: [Conditional<StoredProperty>]
    private let places: SourceLines
    private let isDeprecated: Bool

    /// Nil, after saying why, if one cannot be stored, or has no value where it is not.
    init?(of properties: StoredProperties, in context: some MacroExpansionContext) {
      host = properties.host
      places = SourceLines(context)
      let isSound = properties.all.flatMap(\.flattened).map { $0.checkPersistence(in: context) }.allSatisfy { $0 }
      guard isSound else { return nil }
      stored = properties.all.filtered(\.isStoredInRow)
      isDeprecated = stored.flatMap(\.flattened).contains { $0.availability.isDeprecated }
    }

    /// The members, but those that the type declares itself.
    func members(initializer: String) -> [[String]] {
      var members: [[String]] = []
      if !host.declaresStatic("persistentProperties") {
        members.append(host.persistentProperties(stored.lines { description(of: $0) }).deprecated(if: isDeprecated))
      }
      if !host.declaresRowInitializer {
        let reads = stored.lines { property in
          let isJSON = property.isStoredAsJSON
          return ["self.\(property.spelling) = try row.\(isJSON ? "readJSON" : "read")()"]
        }
        members.append(
          (["\(host.access)nonisolated \(initializer) {"] + reads.indented + ["}"]).deprecated(if: isDeprecated))
      }
      if !host.declaresMethod("write", labels: ["to"]) {
        let writes = stored.lines { ["try row.write(\($0.isStoredAsJSON ? "json: " : "")self.\($0.spelling))"] }
        members.append(host.rowWriter(writes).deprecated(if: isDeprecated))
      }
      return members
    }

    private func description(of property: StoredProperty) -> [String] {
      let json = property.isStoredAsJSON ? "json: " : ""
      var arguments = [property.label.literal, "\(json)\\Self.\(property.spelling)"]
      if let options = property.attributeArguments { arguments.append(options) }
      var call = "init(\(arguments.joined(separator: ", ")))"
      // Each row has its own id.
      if let value = property.initializer, property.label != "id" {
        call += "._default(\(value.trimmedDescription), at: \\Self.\(property.spelling))"
      }
      return places.append(call, as: property.name)
    }
  }

  extension SourceLines {
    /// Appends a property that this makes, and what the compiler says of it is said where `token` stands.
    func append(_ initializer: String, as token: TokenSyntax) -> [String] {
      call("\(initializer))", on: "properties.append(ConcordModel.PersistentProperty<Self>", as: token)
    }
  }

  extension StoredProperty {
    /// A constant with a value is the same in all rows.
    fileprivate var isStoredInRow: Bool { !isTransient && !(isConstant && initializer != nil) }

    /// `@EntityIgnored` keeps a value as it was: as JSON, unless its type says that no entity is in it.
    fileprivate var isStoredAsJSON: Bool { isIgnored && !isPlain }

    /// The arguments of `@Attribute`, as source.
    fileprivate var attributeArguments: String? {
      guard let attribute = declaration.attributes.attribute(named: "Attribute"), let arguments = attribute.arguments
      else { return nil }
      let text = arguments.trimmedDescription
      return text.isEmpty ? nil : text
    }

    /// Returns whether the attributes of the property are valid, and reports those that are not.
    fileprivate func checkPersistence(in context: some MacroExpansionContext) -> Bool {
      let attribute = declaration.attributes.attribute(named: "Attribute")
      if isTransient {
        if label == "id", let mark = declaration.attributes.attribute(named: "Transient") {
          let fixIts = [mark.fixItToRemove(from: declaration)].compactMap { $0 }
          context.report(.transientID, at: mark, fixIts: fixIts)
          return false
        }
        if let attribute {
          let fixIts = [attribute.fixItToRemove(from: declaration)].compactMap { $0 }
          context.report(.transientAttribute(label), at: attribute, fixIts: fixIts)
          return false
        }
        guard initializer == nil, !hasImplicitDefault else { return true }
        context.report(
          .transientWithoutDefault(label), at: name,
          fixIts: fixItToInitialize.map { [$0] } ?? [])
        return false
      }
      guard isConstant, initializer != nil else { return true }
      if label == "id" || attribute != nil {
        context.report(.constantWithValue(label, isError: true), at: name, fixIts: [declaration.fixItToVar])
        return false
      }
      context.report(
        .constantWithValue(label, isError: false), at: name,
        fixIts: [declaration.fixItToVar, declaration.fixItToMark("Transient")])
      return true
    }

    /// `var note: String?` is `nil` without saying so; so may be what a property wrapper makes of it.
    private var hasImplicitDefault: Bool {
      guard !mayLackSetter, let type else { return mayLackSetter }
      return !isConstant && (type.is(OptionalTypeSyntax.self) || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self))
    }
  }

  extension Host {
    /// The list of properties, made by these statements. It is made once where it can be kept.
    func persistentProperties(_ statements: [String]) -> [String] {
      let type = "[ConcordModel.PersistentProperty<Self>]"
      let head =
        canStoreStatics
        ? "\(access)nonisolated static let persistentProperties: \(type) = {"
        : "\(access)nonisolated static var persistentProperties: \(type) {"
      guard !statements.isEmpty else { return [head, "  []", canStoreStatics ? "}()" : "}"] }
      return [head, "  var properties: \(type) = []"] + statements.indented
        + ["  return properties", canStoreStatics ? "}()" : "}"]
    }

    func rowWriter(_ statements: [String]) -> [String] {
      ["\(access)nonisolated func write(to row: inout ConcordModel.RowWriter) throws {"] + statements.indented + ["}"]
    }

    /// Whether there is an initializer that takes a `RowReader`.
    var declaresRowInitializer: Bool {
      members.contains { member in
        member.as(InitializerDeclSyntax.self)?.signature.parameterClause.parameters.last?.type
          .trimmedDescription.hasSuffix("RowReader") ?? false
      }
    }
  }
#endif
