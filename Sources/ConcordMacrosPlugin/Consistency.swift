#if Macros
  /// What the macros write so that values merge by `ConcordConsistency` without boxes, casts or text.
  struct Consistency {
    let host: Host

    /// The members of `StaticallyConsistent`, but those that the type declares itself.
    func entityMembers(_ properties: StoredProperties) -> [[String]] {
      var members: [[String]] = []
      if !host.declaresProperty("properties") { members.append(list(of: properties)) }
      if !host.declaresMethod("setting") { members.append(setting(properties)) }
      members.append(
        method(static: true, "declareConsistentParts(in types: inout ConcordConsistency.ConsistentTypes)") {
          properties.parts.lines { ["types.include(\\Self.\($0.spelling))"] }
        })
      members.append(
        method("visitConsistentParts(_ visitor: ConcordConsistency.ConsistentVisitor)") {
          properties.parts.lines { ["visitor.visit(self.\($0.spelling))"] }
        })
      members.append(
        method("mergingConsistentParts(_ merge: ConcordConsistency.ConsistentMerge) -> Self?") { merging(properties) })
      return members
    }

    /// The members of `ConsistentValue` for a struct without identity.
    func wrapperMembers(_ properties: StoredProperties) -> [[String]] {
      wrapperMembers(
        types: properties.parts.lines { ["types.include(\\Self.\($0.spelling))"] },
        visiting: properties.parts.lines { ["visitor.visit(self.\($0.spelling))"] },
        merging: merging(properties))
    }

    /// The members of `ConsistentValue` for an enum.
    func wrapperMembers(_ cases: [Conditional<WrapperCase>]) -> [[String]] {
      guard !cases.isEmpty else { return wrapperMembers(types: [], visiting: [], merging: ["nil"]) }
      return wrapperMembers(
        types: cases.lines { $0.payloads.map { "types.include(\\Self.\($0.accessor))" } },
        visiting: ["switch self {"]
          + cases.lines { wrapperCase in
            let visits = wrapperCase.payloads.map { "  visitor.visit(value\($0.index))" }
            return ["case \(wrapperCase.pattern()):"] + (visits.isEmpty ? ["  break"] : visits)
          } + ["}"],
        merging: ["switch self {"] + cases.lines(merging) + ["}"])
    }

    private func merging(_ wrapperCase: WrapperCase) -> [String] {
      let payloads = wrapperCase.payloads
      guard !payloads.isEmpty else { return ["case \(wrapperCase.pattern()):", "  return nil"] }
      let unchanged = payloads.map { "part\($0.index) == nil" }.joined(separator: ", ")
      return ["case \(wrapperCase.pattern()):"]
        + payloads.map { "  let part\($0.index) = merge.updated(value\($0.index))" }
        + [
          "  if \(unchanged) { return nil }",
          "  return \(wrapperCase.construction { "part\($0) ?? value\($0)" })",
        ]
    }

    private func wrapperMembers(types: [String], visiting: [String], merging: [String]) -> [[String]] {
      [
        method(static: true, "declareConsistentTypes(in types: inout ConcordConsistency.ConsistentTypes)") { types },
        method("visitConsistentObjects(_ visitor: ConcordConsistency.ConsistentVisitor)") { visiting },
        method("merged(by merge: ConcordConsistency.ConsistentMerge) -> Self?") { merging },
      ]
    }

    private func list(of properties: StoredProperties) -> [String] {
      let lines = properties.all.lines { ["properties.append((\"\($0.label)\", self.\($0.spelling)))"] }
      let body =
        lines.isEmpty ? ["[]"] : ["var properties: [ConcordConsistency.Property] = []"] + lines + ["return properties"]
      return ["\(host.access)nonisolated var properties: [ConcordConsistency.Property] {"] + body.indented + ["}"]
    }

    private func setting(_ properties: StoredProperties) -> [String] {
      method("setting(property: ConcordConsistency.Property) -> Self") {
        let cases = properties.all.lines { property in
          property.isConstant
            ? []
            : [
              "case \"\(property.label)\":",
              property.mayLackSetter
                ? "  copy = ConcordMacros._setting(\\Self.\(property.spelling), of: copy, to: property.value)"
                : "  ConcordMacros._set(&copy.\(property.spelling), to: property.value)",
            ]
        }
        guard !cases.isEmpty else { return ["self"] }
        return ["var copy = self", "switch property.label {"] + cases + ["default: break", "}", "return copy"]
      }
    }

    private func merging(_ properties: StoredProperties) -> [String] {
      let lines = properties.parts.lines { property in
        let name = property.spelling
        guard !property.isConstant else { return [] }
        // Only a change is worth a copy.
        let assignment =
          property.mayLackSetter
          ? ["  copy = ConcordMacros._setting(\\Self.\(name), of: copy ?? self, to: part)"]
          : ["  copy = copy ?? self", "  copy?.\(name) = part"]
        return ["if let part = merge.updated(self.\(name)) {"] + assignment + ["}"]
      }
      return lines.isEmpty ? ["nil"] : ["var copy: Self?"] + lines + ["return copy"]
    }

    private func method(static isStatic: Bool = false, _ signature: String, body: () -> [String]) -> [String] {
      let modifiers = "\(host.access)nonisolated \(isStatic ? "static " : "")"
      let lines = body()
      guard !lines.isEmpty else { return ["\(modifiers)func \(signature) {}"] }
      return ["\(modifiers)func \(signature) {"] + lines.indented + ["}"]
    }
  }
#endif
