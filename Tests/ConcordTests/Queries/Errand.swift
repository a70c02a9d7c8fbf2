import Concord

/// An entity with values of which no order is simple: numbers that may be NaN, texts that are composed differently.
struct Errand: Aggregate, Equatable {
  let id: Int
  var title: String
  var minutes: Int
  var weight: Double
  var due: Double?
  var topic: Int
  var project: Project?
  var helpers: [Helper] = []
  var isDone = false
  var place = Location()
  /// An entity that is always there.
  var owner = Helper(id: 0, name: "", topic: nil)

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [.init(\.project), .init(\.helpers), .init(\.owner)]
  }

  /// NaN counts as equal to itself, so that a store that shows the same is the same.
  static func == (a: Self, b: Self) -> Bool {
    a.fields == b.fields && a.project == b.project && a.helpers == b.helpers && a.owner == b.owner
  }

  private var fields: [String] {
    ["\(id)", title, "\(minutes)", "\(weight)", "\(due as Any)", "\(topic)", "\(isDone)", "\(place.floor)"]
  }
}

/// A value without an identity.
struct Location: Equatable {
  var floor: Int = 0
}

struct Project: Identifiable, Equatable {
  let id: String
  var isOpen: Bool
  var rank: Int
}

struct Helper: Identifiable, Equatable, Codable {
  let id: Int
  var name: String
  var topic: Int?
}
