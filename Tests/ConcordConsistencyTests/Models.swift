import ConcordConsistency

// Conformances as a person writes them.

struct Badge: ConsistentObject, Equatable {
  let id: String
  var title: String

  var properties: [Property] { [(label: "id", value: id), (label: "title", value: title)] }

  func setting(property: Property) -> Badge {
    var copy = self
    if property.label == "title", let value = property.value as? String { copy.title = value }
    return copy
  }
}

struct User: ConsistentObject {
  let id: String
  var name: String
  var badge: Badge?

  init(_ id: String, _ name: String, badge: Badge? = nil) {
    self.id = id
    self.name = name
    self.badge = badge
  }

  var properties: [Property] {
    [(label: "id", value: id), (label: "name", value: name), (label: "badge", value: badge)]
  }

  func setting(property: Property) -> User {
    var copy = self
    switch property.label {
    case "name": if let value = property.value as? String { copy.name = value }
    case "badge": if let value = property.value as? Badge? { copy.badge = value }
    default: break
    }
    return copy
  }
}

struct Video: ConsistentObject {
  let id: String
  var title: String
  var user: User?
  var likers: [User] = []
  var likersByCity: [String: [User]] = [:]

  init(_ id: String, _ title: String, user: User? = nil, likers: [User] = [], byCity: [String: [User]] = [:]) {
    self.id = id
    self.title = title
    self.user = user
    self.likers = likers
    likersByCity = byCity
  }

  var properties: [Property] {
    [
      (label: "id", value: id), (label: "title", value: title), (label: "user", value: user),
      (label: "likers", value: likers), (label: "likersByCity", value: likersByCity),
    ]
  }

  func setting(property: Property) -> Video {
    var copy = self
    switch property.label {
    case "title": if let value = property.value as? String { copy.title = value }
    case "user": if let value = property.value as? User? { copy.user = value }
    case "likers": if let value = property.value as? [User] { copy.likers = value }
    case "likersByCity": if let value = property.value as? [String: [User]] { copy.likersByCity = value }
    default: break
    }
    return copy
  }
}

/// A wrapper by properties, with contents of any type.
struct Page: ConsistentWrapper {
  var things: [any ConsistentObject]
  var cover: Cover

  var properties: [Property] { [(label: "things", value: things), (label: "cover", value: cover)] }

  func setting(property: Property) -> Page {
    var copy = self
    if let value = property.value as? [any ConsistentObject] { copy.things = value }
    if let value = property.value as? Cover { copy.cover = value }
    return copy
  }
}

/// A wrapper as an enum.
enum Cover: ConsistentValue {
  case user(User)
  case videos([Video], caption: String)
  case none

  static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.include(User.self)
    types.include([Video].self)
  }

  func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    switch self {
    case .user(let user): visitor.visit(user)
    case .videos(let videos, _): visitor.visit(videos)
    case .none: break
    }
  }

  func merged(by merge: ConsistentMerge) -> Cover? {
    switch self {
    case .user(let user): merge.updated(user).map { .user($0) }
    case .videos(let videos, let caption): merge.updated(videos).map { .videos($0, caption: caption) }
    case .none: nil
    }
  }
}

struct Channel: ConsistentObject {
  let id: String
  var owner: User
  var page: Page
  var covers: [Cover?] = []

  var properties: [Property] {
    [
      (label: "owner", value: owner), (label: "page", value: page), (label: "covers", value: covers),
    ]
  }

  func setting(property: Property) -> Channel {
    var copy = self
    switch property.label {
    case "owner": if let value = property.value as? User { copy.owner = value }
    case "page": if let value = property.value as? Page { copy.page = value }
    case "covers": if let value = property.value as? [Cover?] { copy.covers = value }
    default: break
    }
    return copy
  }
}
