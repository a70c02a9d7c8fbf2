public import Concord
import ConcordModel

extension ViewContext: Inspectable {
  public var _inspected: InspectedPart {
    InspectedPart(name: "Stored queries") { [weak self] in
      guard let self else { return [] }
      return locked {
        [
          InspectedSection(title: "Live queries over the stores", empty: "There are none.", self.queries.running) {
            $0.inspected
          }
        ]
      }
    }
  }
}

extension ViewQuery {
  fileprivate var inspected: InspectedRow {
    InspectedRow(
      id: "\(number)", title: "\(entity.name) (query \(number))",
      details: [
        "Results": "\(size.shown) shown, \(size.known) known", "Plan": plan,
        "Follows": isFlat ? "rows of the type alone" : contained.map(\.name).sorted().joined(separator: ", "),
        "State": failure ?? (mustFetch ? "fetches with the next change" : nil),
      ], isProblem: failure != nil)
  }

  private var plan: String {
    guard let equalities else { return "each changed row of the type is compared with its condition" }
    let found = equalities.map { equality in
      zip(equality.columns, equality.values).map { "\(name(of: $0)) = \($1)" }.joined(separator: " and ")
    }
    return "found by \(found.joined(separator: ", or ")): changes of other rows cost nothing"
  }

  private func name(of column: StoredColumn) -> String {
    switch column {
    case .key: "id"
    case .position(let position): entity.columns[position].name
    }
  }
}
