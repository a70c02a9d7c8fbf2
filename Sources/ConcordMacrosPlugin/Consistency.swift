#if Macros
  import SwiftSyntax

  /// The members that `@Consistent` writes, so that `ConcordConsistency` merges values without boxes, casts or text.
  struct Consistency {
    let host: Host

    /// The members of `StaticallyConsistent`, but those that the type declares itself.
    func entityMembers(_ properties: StoredProperties) -> [[String]] {
      let isDeprecated = properties.all.flatMap(\.flattened).contains { $0.availability.isDeprecated }
      var members: [[String]] = []
      if !declaresList { members.append(list(of: properties)) }
      if !host.declaresMethod("setting", labels: ["property"]) { members.append(setting(properties)) }
      members += [
        method(static: true, "declareConsistentParts(in types: inout ConcordConsistency.ConsistentTypes)") {
          declaring(properties)
        },
        method("visitConsistentParts(_ visitor: ConcordConsistency.ConsistentVisitor)") { visiting(properties) },
        method("mergingConsistentParts(_ merge: ConcordConsistency.ConsistentMerge) -> Self?") { merging(properties) },
      ]
      return members.map { $0.deprecated(if: isDeprecated) }
    }

    /// The members of `ConsistentValue` for a struct without identity.
    func wrapperMembers(_ properties: StoredProperties) -> [[String]] {
      wrapperMembers(
        types: declaring(properties), visiting: visiting(properties), merging: merging(properties),
        isDeprecated: properties.parts.flatMap(\.flattened).contains { $0.availability.isDeprecated })
    }

    /// The members of `ConsistentValue` for an enum.
    func wrapperMembers(_ cases: [Conditional<WrapperCase>]) -> [[String]] {
      let all = cases.flatMap(\.flattened)
      guard !all.isEmpty else { return wrapperMembers(types: [], visiting: [], merging: ["nil"]) }
      let types = cases.caseLines { wrapperCase in
        wrapperCase.followed.map { payload in
          "types.include(\\ConcordConsistencyMacros._Payload<\(payload.type.trimmedDescription)>.value)"
        }
      }
      return wrapperMembers(
        types: check(all.flatMap { element in element.payloads.map { ($0.type, element.name) } }) + types,
        visiting: choice(among: cases, visiting, otherwise: "break"),
        merging: choice(among: cases, merging, otherwise: "return nil"),
        isDeprecated: all.contains { $0.availability.isDeprecated })
    }

    /// A switch over the cases. Those that only their labels tell apart come before it, each in an `if`.
    private func choice(
      among cases: [Conditional<WrapperCase>], _ branch: (WrapperCase) -> (isBound: (Int) -> Bool, lines: [String]),
      otherwise: String
    ) -> [String] {
      let overloaded = cases.caseLines { wrapperCase in
        guard wrapperCase.isOverloaded else { return [] }
        let branch = branch(wrapperCase)
        return ["if \(wrapperCase.condition(binding: branch.isBound)) {"] + branch.lines.indented + ["}"]
      }
      let others = cases.caseLines { wrapperCase in
        guard !wrapperCase.isOverloaded else { return [] }
        let branch = branch(wrapperCase)
        return ["case \(wrapperCase.pattern(binding: branch.isBound)):"] + branch.lines.indented
      }
      if overloaded.isEmpty { return ["switch self {"] + others + ["}"] }
      return overloaded + (others.isEmpty ? [] : ["switch self {"] + others + ["default: break", "}"])
        + (otherwise == "break" ? [] : [otherwise])
    }

    private func visiting(_ wrapperCase: WrapperCase) -> (isBound: (Int) -> Bool, lines: [String]) {
      let followed = wrapperCase.followed
      let lines = followed.map { "visitor.visit(value\($0.index))" }
      let nothing = wrapperCase.isOverloaded ? "return" : "break"
      return ({ index in followed.contains { $0.index == index } }, lines.isEmpty ? [nothing] : lines)
    }

    private func merging(_ wrapperCase: WrapperCase) -> (isBound: (Int) -> Bool, lines: [String]) {
      let followed = wrapperCase.followed
      guard !followed.isEmpty else { return ({ _ in false }, ["return nil"]) }
      let unchanged = followed.map { "part\($0.index) == nil" }.joined(separator: ", ")
      let renewed = wrapperCase.construction { index in
        followed.contains { $0.index == index } ? "part\(index) ?? value\(index)" : "value\(index)"
      }
      let lines =
        followed.map { "let part\($0.index) = merge.updated(value\($0.index))" }
        + ["if \(unchanged) { return nil }", "return \(renewed)"]
      return ({ _ in true }, lines)
    }

    private func wrapperMembers(
      types: [String], visiting: [String], merging: [String], isDeprecated: Bool = false
    ) -> [[String]] {
      [
        method(static: true, "declareConsistentTypes(in types: inout ConcordConsistency.ConsistentTypes)") { types },
        method("visitConsistentObjects(_ visitor: ConcordConsistency.ConsistentVisitor)") { visiting },
        method("merged(by merge: ConcordConsistency.ConsistentMerge) -> Self?") { merging },
      ].map { $0.deprecated(if: isDeprecated) }
    }

    /// Whether the type's `properties` can be what `ConsistentObject` asks for.
    private var declaresList: Bool {
      host.properties.contains { property in
        guard property.label == "properties", let type = property.type?.trimmedDescription else { return false }
        return ["[Property]", "[ConcordConsistency.Property]", "Array<Property>"].contains(type)
      }
    }

    private func list(of properties: StoredProperties) -> [String] {
      let lines = properties.all.lines { ["properties.append((\($0.label.literal), \(value(of: $0))))"] }
      let body =
        lines.isEmpty ? ["[]"] : ["var properties: [ConcordConsistency.Property] = []"] + lines + ["return properties"]
      // A property of the user's may have the name and another type. It keeps the name then.
      let isTaken = host.declaresProperty("properties")
      let attribute =
        isTaken ? "@_implements(ConcordConsistency.ConsistentObject, properties) @_disfavoredOverload " : ""
      let name = isTaken ? "_consistentProperties" : "properties"
      return ["\(attribute)\(host.access)nonisolated var \(name): [ConcordConsistency.Property] {"] + body.indented + [
        "}"
      ]
    }

    private func setting(_ properties: StoredProperties) -> [String] {
      method("setting(property: ConcordConsistency.Property) -> Self") {
        let cases = properties.all.lines { property in
          property.isConstant
            ? []
            : [
              "case \(property.label.literal):",
              property.mayLackSetter
                ? "  copy = ConcordConsistencyMacros._setting(\(path(to: property)), of: copy, to: property.value)"
                : "  ConcordConsistencyMacros._set(&copy.\(property.spelling), to: property.value)",
            ]
        }
        guard !cases.isEmpty else { return ["self"] }
        return ["var copy = self", "switch property.label {"] + cases + ["default: break", "}", "return copy"]
      }
    }

    private func declaring(_ properties: StoredProperties) -> [String] {
      check(properties.parts.flatMap(\.flattened).map { ($0.type, $0.name) })
        + followed(in: properties) { ["types.include(\(path(to: $0)))"] }
    }

    private func visiting(_ properties: StoredProperties) -> [String] {
      followed(in: properties) { ["visitor.visit(\(value(of: $0)))"] }
    }

    private func merging(_ properties: StoredProperties) -> [String] {
      let names = properties.parts.flatMap(\.flattened).map(\.label)
      // The same property may stand in two branches of an `#if`.
      func part(_ property: StoredProperty) -> String { "part\(names.firstIndex(of: property.label) ?? 0)" }
      func lines(_ line: (StoredProperty) -> String) -> [String] {
        followed(in: properties) { $0.isConstant ? [] : [line($0)] }
      }
      let merged = lines { "let \(part($0)) = merge.updated(\(value(of: $0)))" }
      guard !merged.isEmpty else { return ["nil"] }
      let assigned = lines { property in
        let assignment =
          property.mayLackSetter
          ? "copy = ConcordConsistencyMacros._setting(\(path(to: property)), of: copy, to: part)"
          : "copy.\(property.spelling) = part"
        return "if let part = \(part(property)) { \(assignment) }"
      }
      // Only a change is worth a copy, and most values do not change.
      return merged + ["var isChanged = false"] + lines { "if \(part($0)) != nil { isChanged = true }" }
        + ["if !isChanged { return nil }", "var copy = self"] + assigned + ["return copy"]
    }

    /// The lines for the properties in which there may be objects.
    private func followed(in properties: StoredProperties, _ line: (StoredProperty) -> [String]) -> [String] {
      properties.parts.lines { $0.isPlain ? [] : line($0) }
    }

    /// The lines with which the compiler checks that what was left out by its name is what it was taken for.
    private func check(_ types: [(TypeSyntax?, TokenSyntax)]) -> [String] {
      PlainTypes(in: types).names.map { "ConcordConsistencyMacros._leaveOut(\($0.name).self)" }
    }

    /// Returns the key path to a property. A property with a wrapper may be isolated to an actor, unlike its storage.
    private func path(to property: StoredProperty) -> String {
      property.mayLackSetter ? "Concord._keyPath({ \\Self.\(property.spelling) })" : "\\Self.\(property.spelling)"
    }

    private func value(of property: StoredProperty) -> String {
      property.mayLackSetter ? "self[keyPath: \(path(to: property))]" : "self.\(property.spelling)"
    }

    private func method(static isStatic: Bool = false, _ signature: String, body: () -> [String]) -> [String] {
      let modifiers = "\(host.access)nonisolated \(isStatic ? "static " : "")"
      let lines = body()
      guard !lines.isEmpty else { return ["\(modifiers)func \(signature) {}"] }
      return ["\(modifiers)func \(signature) {"] + lines.indented + ["}"]
    }
  }
#endif
