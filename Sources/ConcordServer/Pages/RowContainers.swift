#if Server
  import ConcordSync

  /// Looks for the rows that contain a row, at any depth.
  struct RowContainers {
    private let reading: any RowReading
    private let model: Model
    /// The rows inside of the rows for which a predicate holds, with these, if they had to be found.
    private var inside: Set<EntityKey>?
    /// The number of containers that are still visited, of all rows.
    private var budget = 5000

    init(reading: any RowReading, model: Model) { (self.reading, self.model) = (reading, model) }

    /// The number of containers after which it is cheaper to look from above.
    static let limit = 200

    /// The number of rows that are read at once.
    private static let batch = 1000

    /// Whether a predicate holds for a row that contains the given one. It is the same predicate in each call.
    ///
    /// - Complexity: the number of rows that contain it, up to the first for which it holds; if they are many, once the number of the rows
    ///   for which the predicate holds, with what they contain.
    mutating func holds(_ predicate: Served, above key: EntityKey) throws -> Bool {
      if let inside { return inside.contains(key) }
      var isFound = false
      let isComplete = try visit(above: key, below: predicate.entity, limit: Self.limit) { container, row in
        isFound = try container.entity == predicate.entity && predicate.holds(row.values, key: container.id)
        return !isFound
      }
      if isComplete { return isFound }
      let found = try allInside(predicate)
      inside = found
      return found.contains(key)
    }

    private func allInside(_ predicate: Served) throws -> Set<EntityKey> {
      var found: Set<EntityKey> = []
      var open = try predicate.keys(reading).map { EntityKey(predicate.entity, $0) }
      var seen = Set(open)
      while !open.isEmpty {
        let batch = open.suffix(Self.batch).filter { !$0.entity.targets.isEmpty }
        open.removeLast(min(Self.batch, open.count))
        try reading.prepare(batch)
        for key in batch {
          guard let row = try reading.row(of: key) else { continue }
          for key in key.entity.referencedKeys(of: row, in: model) {
            found.insert(key)
            if seen.insert(key).inserted { open.append(key) }
          }
        }
      }
      return found
    }

    /// Calls a closure for each row that contains the given one, until it returns `false`.
    ///
    /// - Parameters:
    ///   - root: the type of the outermost rows.
    ///   - limit: the number of rows that are visited at most.
    /// - Returns: whether all were visited, or the closure has ended it.
    @discardableResult
    mutating func visit(
      above key: EntityKey, below root: EntityDescription, limit: Int, _ body: (EntityKey, StoredRow) throws -> Bool
    ) throws -> Bool {
      let types = model.contained(in: root)
      var seen: Set<EntityKey> = [key]
      var open = [key]
      while let key = open.popLast() {
        for entity in types where entity.mayReferTo(key.entity) {
          for id in try reading.referrers(to: key, in: entity) {
            let container = EntityKey(entity, id)
            guard seen.insert(container).inserted else { continue }
            guard seen.count <= limit + 1, budget > 0 else { return false }
            budget -= 1
            guard let row = try reading.row(of: container) else { continue }
            if try !body(container, row) { return true }
            open.append(container)
          }
        }
      }
      return true
    }
  }
#endif
