#if Inspector
  import Concord

  /// Makes trees of values. It looks into them by reflection, and runs no code of theirs but descriptions.
  ///
  /// An object is shown by its description: other threads may change what is inside while it is looked at.
  struct ValueReader {
    /// The types of entities, which inside other values are shown as references.
    let types: EntityTypes
    private var rest: Int

    static var deepest: Int { 6 }
    static var mostParts: Int { 100 }

    /// - Parameter limit: the greatest number of parts of one tree.
    init(_ types: EntityTypes, limit: Int = 1_000) { (self.types, rest) = (types, limit) }

    /// Returns the tree of an entity's own value.
    static func tree(of value: Any, _ types: EntityTypes, limit: Int = 1_000) -> ValueTree {
      var reader = ValueReader(types, limit: limit)
      return reader.tree(of: value, name: nil, depth: 0)
    }

    private mutating func tree(of value: Any, name: String?, depth: Int) -> ValueTree {
      rest -= 1
      let type = EntityTypes.name(of: Swift.type(of: value))
      if depth > 0, let entity = types.reference(to: value) {
        return ValueTree(name: name, kind: .entity, type: type, text: "\(entity.type) \(entity.id)", entity: entity)
      }
      let mirror = Mirror(reflecting: value)
      switch mirror.displayStyle {
      case .optional:
        guard let wrapped = mirror.children.first else {
          return ValueTree(name: name, kind: .nothing, type: type, text: "nil")
        }
        return tree(of: wrapped.value, name: name, depth: depth)
      case .collection, .set, .dictionary:
        return list(mirror, type, name, depth)
      case .class where !(value is any CustomReflectable): break
      case .tuple, .struct, .class:
        // What has no parts that can be seen is shown by its description.
        if mirror.displayStyle != .tuple, mirror.children.isEmpty || Self.isPlain(value) { break }
        return ValueTree(name: name, kind: .structure, type: type, text: type, parts: parts(of: mirror, depth))
      case .enum:
        guard let payload = mirror.children.first else { break }
        var tree = ValueTree(name: name, kind: .structure, type: type, text: payload.label ?? type)
        tree.parts = depth < Self.deepest ? [self.tree(of: payload.value, name: payload.label, depth: depth + 1)] : nil
        return tree
      default: break
      }
      return ValueTree(name: name, kind: .text, type: type, text: EntityTypes.text(ofValue: value).cutForInspector())
    }

    private mutating func list(_ mirror: Mirror, _ type: String, _ name: String?, _ depth: Int) -> ValueTree {
      let count = mirror.children.count
      let text = count == 1 ? "1 element" : "\(count) elements"
      var tree = ValueTree(name: name, kind: .list, type: type, text: text, parts: parts(of: mirror, depth))
      // A larger one would have to be looked at as a whole.
      if mirror.displayStyle != .collection, count <= Self.mostParts {
        tree.parts = tree.parts.map { Self.ordered($0, isDictionary: mirror.displayStyle == .dictionary) }
      }
      return tree
    }

    /// The parts of a set or a dictionary in an order, and by names, that stay the same when further parts come and go.
    private static func ordered(_ parts: [ValueTree], isDictionary: Bool) -> [ValueTree] {
      let placed = parts.map { part in
        guard part.kind != .more else { return part }
        var placed = part
        if isDictionary, let pair = part.parts, pair.map(\.name) == ["key", "value"] {
          placed = pair[1]
          placed.name = pair[0].line
        }
        placed.place = "[\(placed.name ?? part.line)]"
        return placed
      }
      return placed.sorted { ($0.place ?? "\u{10ffff}") < ($1.place ?? "\u{10ffff}") }
    }

    private mutating func parts(of mirror: Mirror, _ depth: Int) -> [ValueTree]? {
      guard depth < Self.deepest else { return nil }
      var parts: [ValueTree] = []
      for child in mirror.children {
        if parts.count == Self.mostParts || rest <= 0 {
          let missing = mirror.children.count - parts.count
          parts.append(ValueTree(kind: .more, type: "", text: "… and \(missing) more"))
          break
        }
        parts.append(tree(of: child.value, name: child.label, depth: depth + 1))
      }
      return parts
    }

    /// Whether a value with parts is shown by its description, such as a date.
    private static func isPlain(_ value: Any) -> Bool {
      // What the user describes in words of her own is shown with its parts all the same.
      let module = String(reflecting: Swift.type(of: value))
      return ["Foundation.", "FoundationEssentials.", "Swift."].contains { module.hasPrefix($0) }
        && value is any CustomStringConvertible
    }

  }
#endif
