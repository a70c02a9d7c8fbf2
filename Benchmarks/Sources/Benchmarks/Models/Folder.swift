import ConcordConsistency

/// An object that contains others of its type, with a conformance written by hand.
struct Folder: ConsistentObject {
  let id: String
  var title: String
  var folders: [Folder] = []

  var properties: [Property] { [("id", id), ("title", title), ("folders", folders)] }

  func setting(property: Property) -> Folder {
    var copy = self
    switch property.label {
    case "title": if let title = property.value as? String { copy.title = title }
    case "folders": if let folders = property.value as? [Folder] { copy.folders = folders }
    default: break
    }
    return copy
  }

  /// A leaf, layers of two folders that both contain the whole layer below, and a root.
  static func diamond(layers: Int, leaf: Folder) -> Folder {
    let top = (1...layers).reduce([leaf]) { below, layer in
      (0..<2).map { Folder(id: "\(layer) \($0)", title: "A folder in layer \(layer)", folders: below) }
    }
    return Folder(id: "root", title: "The root on top of it all", folders: top)
  }
}
