#if PostgreSQL
  import ConcordPersistence
  import Foundation

  extension QueryPlan {
    /// Creates a plan from what PostgreSQL's `EXPLAIN (FORMAT JSON)` gives.
    init(postgreSQL json: String) {
      self.init()
      // The server alone writes it. What cannot be read is left out.
      guard let statements = try? JSONDecoder().decode([PlannedStatement].self, from: Data(json.utf8)) else { return }
      for statement in statements { add(statement.plan) }
    }

    private mutating func add(_ node: PlanNode) {
      if node.type.hasSuffix("Sort") { sorts = true }
      if let table = node.table {
        let access = TableAccess(table: table, node.method)
        if !accesses.contains(access) { accesses.append(access) }
      }
      for part in node.parts ?? [] { add(part) }
    }
  }

  private struct PlannedStatement: Decodable {
    let plan: PlanNode

    enum CodingKeys: String, CodingKey { case plan = "Plan" }
  }

  /// A node of a plan, with those whose rows it takes.
  private struct PlanNode: Decodable {
    let type: String
    let table: String?
    let index: String?
    let condition: String?
    let parts: [PlanNode]?

    enum CodingKeys: String, CodingKey {
      case type = "Node Type"
      case table = "Relation Name"
      case index = "Index Name"
      case condition = "Index Cond"
      case parts = "Plans"
    }

    var method: TableAccess.Method {
      if let index { return condition == nil ? .walk(index: index) : .search(index: index) }
      guard type == "Bitmap Heap Scan", let index = bitmapIndex else { return .scan }
      return .search(index: index)
    }

    /// The first of the indexes that a bitmap is made of.
    private var bitmapIndex: String? { index ?? parts?.lazy.compactMap(\.bitmapIndex).first }
  }
#endif
