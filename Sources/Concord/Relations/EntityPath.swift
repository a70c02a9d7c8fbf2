/// The path from a value to an entity in it, with advice on the declaration that makes the entity a relation.
struct EntityPath: CustomStringConvertible {
  private(set) var description = ""
  private(set) var depth = 0
  private let root: Any.Type
  /// The type that declares the last property or case.
  private var owner: Any.Type
  /// The name of the property of the outermost value.
  private var first = ""
  /// Whether a key path can lead there, through properties and tuples only.
  private var isKeyPath = true
  private var isInTuple = false
  private var isInKey = false

  init(root: Any.Type) { (self.root, owner) = (root, root) }

  func property(_ name: String, of type: Any.Type) -> EntityPath { named(name, of: type) }

  func payload(_ name: String, of type: Any.Type) -> EntityPath {
    var path = named(name, of: type)
    path.isKeyPath = false
    return path
  }

  func tupleElement(_ label: String) -> EntityPath {
    // An element of a tuple without a label has the label `.1`.
    var path = named(label.hasPrefix(".") ? String(label.dropFirst()) : label, of: owner)
    path.isInTuple = true
    return path
  }

  var element: EntityPath { inside("[]") }

  var key: EntityPath {
    var path = inside("[key]")
    path.isInKey = true
    return path
  }

  private func named(_ name: String, of type: Any.Type) -> EntityPath {
    var path = self
    path.description += description.isEmpty ? name : ".\(name)"
    path.depth += 1
    path.owner = type
    path.isInTuple = false
    if first.isEmpty { path.first = name }
    return path
  }

  private func inside(_ mark: String) -> EntityPath {
    var path = self
    path.description += mark
    path.depth += 1
    path.isKeyPath = false
    return path
  }

  /// Whether the path is another one, or leads from there further inside.
  func isInside(_ other: String) -> Bool {
    description == other || description.hasPrefix("\(other).") || description.hasPrefix("\(other)[")
  }

  // MARK: What to write

  func advice(for entity: Any.Type) -> String {
    "\(remedy(for: entity)); if it is to stay as it was written, mark '\(first)' '@EntityIgnored' or name it in "
      + "'ignoredEntityProperties'"
  }

  private func remedy(for entity: Any.Type) -> String {
    let relation = "'.init(\\.\(description))'"
    if isInKey { return "take the id of '\(entity)' as the key" }
    if !(root is any Aggregate.Type) {
      return "declare '\(root)' '@Entity', or an 'Aggregate'" + (isKeyPath ? " that lists \(relation)" : "")
    }
    if isInTuple, !isKeyPath { return "declare a struct '@EntityWrapper' in place of the tuple" }
    if owner == root || owner is any EntityWrapper.Type {
      let declaration = "declare it with 'var' and with a type that is an entity, a wrapper or a container, not 'any'"
      if !isKeyPath { return declaration }
      // The elements of a parameter pack look like those of any tuple.
      let pack = "or, if it is one of a parameter pack, hold it in an array of an enum declared '@EntityWrapper'"
      return "list \(relation), or with '@Entity' \(declaration)" + (isInTuple ? ", \(pack)" : "")
    }
    return "declare '\(owner)' '@EntityWrapper'" + (isKeyPath ? ", or list \(relation)" : "")
  }
}
