/// The figure of an earlier system for the work of a row, as it was measured for Concord's design.
struct Earlier: Codable, Sendable {
  enum System: String, Codable, CaseIterable, Sendable {
    case cohesionKit = "CohesionKit"
    case uniform = "Uniform"
  }

  var system: System
  /// In the unit of the row.
  var figure: Double
  var remark: String?

  static func cohesionKit(_ figure: Double, _ remark: String? = nil) -> Earlier {
    Earlier(system: .cohesionKit, figure: figure, remark: remark)
  }

  static func uniform(_ figure: Double, _ remark: String? = nil) -> Earlier {
    Earlier(system: .uniform, figure: figure, remark: remark)
  }
}
