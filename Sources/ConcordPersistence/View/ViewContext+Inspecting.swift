public import Concord
import ConcordModel

extension ViewContext: Inspectable {
  public var _inspected: InspectedPart {
    InspectedPart(name: "Stored queries") { [weak self] in
      guard let self else { return [] }
      return locked {
        [
          InspectedSection(title: "Live queries over the stores", empty: "There are none.", self.queries.running) {
            $0.inspected(by: self.observers(of: $0))
          }
        ]
      }
    }
  }
}

extension ViewContext {
  /// The observers of a query's result, where inspectors are compiled.
  private func observers(of query: any ViewQuery) -> [InspectedObserver] {
    #if Inspector
      let key = InspectedKey(type: query.resultType, id: query.number)
      return entities.inspectedEntity(key)?.observers ?? []
    #else
      return []
    #endif
  }
}

extension ViewQuery {
  fileprivate func inspected(by observers: [InspectedObserver]) -> InspectedRow {
    InspectedRow(
      id: "\(number)", title: "\(entity.name) (query \(number))",
      details: [
        "Results": "\(size.shown) shown, \(size.known) known", "Plan": plan,
        "Cost": looks == 1 ? "1 row looked at so far" : "\(looks) rows looked at so far",
        "Follows": isFlat ? "rows of the type alone" : contained.map(\.name).sorted().joined(separator: ", "),
        "State": failure ?? (mustFetch ? "fetches with the next change" : nil),
        "Observers": isMerged ? "those of a query over the view, among the live queries: layers count" : nil,
      ], isProblem: failure != nil, observers: observers)
  }

  fileprivate var resultType: ObjectIdentifier {
    func result<T: PersistentEntity>(_ type: T.Type) -> ObjectIdentifier { ObjectIdentifier(QueryResult<T>.self) }
    return result(entity.type)
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
