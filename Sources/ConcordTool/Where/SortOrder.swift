#if Tool
  import ConcordPersistence

  /// An order, given as in `year desc, title`, by columns.
  enum SortOrder {
    static func columns(
      _ text: String?, _ table: SourceTable
    ) throws -> [(column: Int, isDescending: Bool)] {
      guard let text else { return table.order }
      let parts = try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
        let words = part.split(separator: " ", omittingEmptySubsequences: true)
        let direction = words.count > 1 ? words.last?.lowercased() : nil
        let isDirected = direction == "desc" || direction == "asc"
        let name = (isDirected ? words.dropLast() : words[...]).joined(separator: " ")
        return (column: try table.requiredColumn(name), isDescending: direction == "desc")
      }
      // The keys make the order of equal rows stable.
      return parts + table.order
    }
  }
#endif
