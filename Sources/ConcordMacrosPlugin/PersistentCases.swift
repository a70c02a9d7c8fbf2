#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The members of an enum that is stored in the row of the value that holds it: a column for the name of its case, and one for each
  /// payload, which is `NULL` in any other case.
  struct PersistentCases {
    private let host: Host
    private let cases: [Conditional<WrapperCase>]
    private let places: SourceLines
    private let isDeprecated: Bool

    /// Nil, after saying why, if a case would need endless columns.
    init?(of cases: [Conditional<WrapperCase>], host: Host, in context: some MacroExpansionContext) {
      self.host = host
      self.cases = cases
      places = SourceLines(context)
      let all = cases.flatMap(\.flattened)
      isDeprecated = all.contains { $0.availability.isDeprecated }
      var isSound = true
      for wrapperCase in all where wrapperCase.payloads.contains(where: { $0.type.isMade(of: [host.name, "Self"]) }) {
        context.report(.recursiveWrapper(wrapperCase.label, type: host.name), at: wrapperCase.name)
        isSound = false
      }
      if !isSound { return nil }
    }

    /// The members, but those that the type declares itself.
    var members: [[String]] {
      var members: [[String]] = []
      if !host.declaresStatic("persistentProperties") {
        members.append(
          host.persistentProperties(
            cases.caseLines { wrapperCase in
              wrapperCase.payloads.flatMap { payload in
                places.append(
                  "init(\(payload.columnLabel.literal), \\Self.\(payload.accessor))", as: wrapperCase.name)
              }
            }))
      }
      if !host.declaresProperty("persistentCase") { members.append(caseName) }
      if !host.declaresRowInitializer { members.append(initializer) }
      if !host.declaresMethod("write", labels: ["to"]) {
        members.append(
          host.rowWriter(cases.caseLines { $0.payloads.map { "try row.write(self.\($0.accessor))" } }))
      }
      return members.map { $0.deprecated(if: isDeprecated) }
    }

    /// Returns the name of a case in the file, with its labels if other cases have the same name.
    private func storedName(_ wrapperCase: WrapperCase) -> String {
      (wrapperCase.isOverloaded ? wrapperCase.signature : wrapperCase.label).literal
    }

    private var caseName: [String] {
      let overloaded = cases.caseLines { wrapperCase in
        guard wrapperCase.isOverloaded else { return [] }
        return ["if \(wrapperCase.condition { _ in false }) { return \(storedName(wrapperCase)) }"]
      }
      let others = cases.caseLines { wrapperCase in
        wrapperCase.isOverloaded ? [] : ["case .\(wrapperCase.spelling): return \(storedName(wrapperCase))"]
      }
      let ending = overloaded.isEmpty ? [] : ["default: return \"\""]
      let choice = others.isEmpty ? ["return \"\""] : ["switch self {"] + others + ending + ["}"]
      return ["\(host.access)nonisolated var persistentCase: Swift.String {"] + (overloaded + choice).indented + ["}"]
    }

    private var initializer: [String] {
      func local(_ payload: WrapperCase.Payload, of wrapperCase: WrapperCase) -> String {
        "`stored \(payload.accessorLabel)`"
      }
      let reads = cases.caseLines { wrapperCase in
        wrapperCase.payloads.map {
          "let \(local($0, of: wrapperCase)): \($0.accessorType) = try row.read()"
        }
      }
      let choices = cases.caseLines { wrapperCase in
        let required = wrapperCase.payloads.filter { !$0.isOptional }.map { local($0, of: wrapperCase) }
        let made = "self = \(wrapperCase.construction { local(wrapperCase.payloads[$0], of: wrapperCase) })"
        let body =
          required.isEmpty
          ? [made, "return"]
          : ["if \(required.map { "let \($0)" }.joined(separator: ", ")) {", "  \(made)", "  return", "}"]
        return ["case \(storedName(wrapperCase)):"] + body.indented
      }
      let head = "nonisolated init(case name: Swift.String, from row: inout ConcordModel.RowReader) throws {"
      let body =
        reads + ["switch name {"] + choices
        + ["default: break", "}", "throw ConcordModel.StoreError.unknownCase(name, of: Self.self)"]
      return ["\(host.access)\(head)"] + body.indented + ["}"]
    }
  }
#endif
