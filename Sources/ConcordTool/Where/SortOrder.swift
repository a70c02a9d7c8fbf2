#if Tool
  import ConcordPersistence

  /// An order, given as in `year desc, title`, translated to SQL.
  enum SortOrder {
    static func sql(_ text: String?, _ table: FileTable) throws -> String {
      guard let text else { return table.order }
      let parts = try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
        let words = part.split(separator: " ", omittingEmptySubsequences: true)
        let direction = words.count > 1 ? words.last?.lowercased() : nil
        let isDirected = direction == "desc" || direction == "asc"
        let name = (isDirected ? words.dropLast() : words[...]).joined(separator: " ")
        let column = try table.requiredColumn(name)
        return "\(quoted(column.name))\(direction == "desc" ? " DESC" : "")"
      }
      // The keys make the order of equal rows stable.
      return parts.joined(separator: ", ") + ", " + table.order
    }
  }
#endif
