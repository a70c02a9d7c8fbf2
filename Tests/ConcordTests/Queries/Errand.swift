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

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.project), .init(\.helpers)] }

  /// NaN counts as equal to itself, so that a store that shows the same is the same.
  static func == (a: Self, b: Self) -> Bool { a.fields == b.fields && a.project == b.project && a.helpers == b.helpers }

  private var fields: [String] { ["\(id)", title, "\(minutes)", "\(weight)", "\(due as Any)", "\(topic)"] }
}

struct Project: Identifiable, Equatable {
  let id: String
  var isOpen: Bool
  var rank: Int
}

struct Helper: Identifiable, Equatable {
  let id: Int
  var name: String
  var topic: Int?
}
