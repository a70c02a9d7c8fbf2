#if Macros
  import SwiftSyntax

  /// An element, or several within the branches of an `#if`, which the macros keep: they cannot know which is compiled.
  indirect enum Conditional<Element> {
    case element(Element)
    case branches([(condition: String, elements: [Conditional])])

    /// All elements, whichever branch they are in.
    var flattened: [Element] {
      switch self {
      case .element(let element): [element]
      case .branches(let branches): branches.flatMap { $0.elements.flatMap(\.flattened) }
      }
    }
  }

  extension MemberBlockItemListSyntax {
    /// Returns the results of `transform` for each member, in order, inside the same `#if`.
    func conditionalMap<Element>(_ transform: (DeclSyntax) -> [Element]) -> [Conditional<Element>] {
      flatMap { item -> [Conditional<Element>] in
        guard let block = item.decl.as(IfConfigDeclSyntax.self) else {
          return transform(item.decl).map { .element($0) }
        }
        let branches = block.clauses.map { clause in
          let condition = clause.condition.map { " \($0.trimmedDescription)" } ?? ""
          let members = clause.elements?.as(MemberBlockItemListSyntax.self) ?? []
          return (clause.poundKeyword.text + condition, members.conditionalMap(transform))
        }
        return [.branches(branches)]
      }
    }
  }

  extension Sequence {
    /// Returns the elements for which `isIncluded` returns `true`, inside the same `#if`.
    func filtered<Element>(
      _ isIncluded: (Element) -> Bool
    ) -> [Conditional<Element>] where Self.Element == Conditional<Element> {
      compactMap { item in
        switch item {
        case .element(let element): return isIncluded(element) ? item : nil
        case .branches(let branches):
          return .branches(branches.map { ($0.condition, $0.elements.filtered(isIncluded)) })
        }
      }
    }

    /// The lines that `line` writes for each element, between the lines of the `#if` in which the element stands.
    func lines<Element>(_ line: (Element) -> [String]) -> [String] where Self.Element == Conditional<Element> {
      flatMap { item -> [String] in
        switch item {
        case .element(let element):
          return line(element)
        case .branches(let branches):
          let bodies = branches.map { $0.elements.lines(line) }
          guard bodies.contains(where: { !$0.isEmpty }) else { return [] }
          return zip(branches, bodies).flatMap { [$0.condition] + $1 } + ["#endif"]
        }
      }
    }
  }
#endif
