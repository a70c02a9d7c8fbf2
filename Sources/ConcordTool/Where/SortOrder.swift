#if Tool
  import ConcordPersistence

  /// `year desc, title`, as SQL.
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
      // Rows that are equal there come in the same order each time.
      return parts.joined(separator: ", ") + ", " + table.order
    }
  }
#endif
