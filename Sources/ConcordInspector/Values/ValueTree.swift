#if Inspector
  /// A value as the page shows it: a tree of named parts, of bounded size.
  struct ValueTree: Encodable, Sendable {
    enum Kind: String, Encodable {
      case text, nothing, structure, list, entity, more
    }

    var name: String?
    /// The place that finds the part again in another value: its key in a dictionary, itself in a set.
    var place: String?
    let kind: Kind
    let type: String
    /// The value, if it is a text; otherwise a summary.
    var text: String
    /// The entity, if it is one inside another.
    var entity: EntityReference?
    var parts: [ValueTree]?
  }

  extension ValueTree {
    /// The texts of all leaves, by the names that lead there.
    var leaves: [(path: String, text: String)] {
      guard let parts else { return [("", text)] }
      if parts.isEmpty { return [("", text)] }
      return parts.enumerated().flatMap { index, part in
        part.leaves.map { path, text in
          let name = part.place ?? part.name ?? "[\(index)]"
          return (path.isEmpty ? name : path.hasPrefix("[") ? name + path : "\(name).\(path)", text)
        }
      }
    }

    /// The value in one line.
    var line: String {
      guard kind == .structure || kind == .list, let parts, !parts.isEmpty else { return text }
      return parts.map { part in part.name.map { "\($0): \(part.text)" } ?? part.text }.joined(separator: ", ")
    }
  }
#endif
