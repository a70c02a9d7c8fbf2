import Foundation

/// A chart of ten rows: Concord, the floor, and what an earlier system or GRDB takes for the same work, on a logarithmic scale.
struct Chart {
  /// A row that is drawn.
  private struct Entry {
    /// The name of the row in the report.
    var row: String
    /// The name in the chart.
    var label: String
    /// The mark of the row's floor.
    var floor = Mark.floor
  }

  /// The rows that users ask about.
  private static let entries = [
    Entry(row: "store a new flat entity, observer kept", label: "store a new entity"),
    Entry(row: "store it again", label: "store it again"),
    Entry(row: "find by id among 100,000, and read the value", label: "find one of 100,000"),
    Entry(row: "update, one observer called at once", label: "update, one observer"),
    Entry(row: "store an aggregate of 10,000", label: "store an aggregate of 10,000"),
    Entry(row: "change only a field of that aggregate", label: "change a field of that aggregate"),
    Entry(row: "one user inside 10,000 posts, update the user, unobserved", label: "update a user inside 10,000 posts"),
    Entry(row: "build that: 10,000 posts one by one", label: "store 10,000 posts one by one"),
    Entry(row: "push one object to 100 owners of 1,000 objects, generated", label: "push to 100 owners of 1,000"),
    Entry(row: "upsert 100,000 into a file, each", label: "save a row, 100,000 at once", floor: .grdb),
  ]

  /// What a figure belongs to. Each has a shape of its own, so that the colours are not needed.
  enum Mark: String, CaseIterable {
    case concord = "Concord"
    case floor = "floor"
    case cohesionKit = "CohesionKit"
    case uniform = "Uniform"
    case grdb = "GRDB"

    init(_ system: Earlier.System) {
      switch system {
      case .cohesionKit: self = .cohesionKit
      case .uniform: self = .uniform
      }
    }

    /// The mark around a point, drawn in its own colour.
    fileprivate func shape(_ x: Double, _ y: Double, _ colors: Colors) -> String {
      let color = colors.mark(self)
      return switch self {
      case .concord: #"<circle cx="\#(x.short)" cy="\#(y.short)" r="6" fill="\#(color)"/>"#
      case .floor: Self.polygon([(x - 1.5, y - 8), (x + 1.5, y - 8), (x + 1.5, y + 8), (x - 1.5, y + 8)], color)
      case .cohesionKit: Self.polygon([(x - 5, y - 5), (x + 5, y - 5), (x + 5, y + 5), (x - 5, y + 5)], color)
      case .uniform: Self.polygon([(x, y - 6), (x + 6, y + 5), (x - 6, y + 5)], color)
      case .grdb: Self.polygon([(x, y - 7), (x + 6, y), (x, y + 7), (x - 6, y)], color)
      }
    }

    private static func polygon(_ points: [(Double, Double)], _ color: String) -> String {
      #"<polygon points="\#(points.map { "\($0.short),\($1.short)" }.joined(separator: " "))" fill="\#(color)"/>"#
    }
  }

  /// The colours of one appearance.
  struct Colors {
    var text: String
    var line: String
    var marks: [Mark: String]

    fileprivate func mark(_ mark: Mark) -> String { marks[mark] ?? text }

    static let light = Colors(
      text: "#1f2328", line: "#d1d9e0",
      marks: [
        .concord: "#0969da", .floor: "#59636e", .cohesionKit: "#bc4c00", .uniform: "#8250df", .grdb: "#1a7f37",
      ])
    static let dark = Colors(
      text: "#f0f6fc", line: "#3d444d",
      marks: [
        .concord: "#4493f8", .floor: "#9198a1", .cohesionKit: "#f0883e", .uniform: "#ab7df8", .grdb: "#3fb950",
      ])
  }

  private let lines: [(entry: Entry, line: Report.Line)]

  /// Throws if the report lacks one of the rows.
  init(_ report: Report) throws {
    lines = try Self.entries.map { entry in
      guard let line = report.rows.first(where: { $0.name == entry.row }), line.concord != nil else {
        throw WrongResult(description: "the chart needs the row “\(entry.row)”, which was not measured")
      }
      return (entry, line)
    }
  }

  /// Writes the chart for light and for dark pages into a folder: `chart-light.svg` and `chart-dark.svg`.
  func write(to folder: URL) throws {
    for (name, colors) in [("light", Colors.light), ("dark", Colors.dark)] {
      try svg(colors).write(to: folder.appending(path: "chart-\(name).svg"), atomically: true, encoding: .utf8)
    }
  }

  private static let (width, left, right, top, step) = (900.0, 270.0, 800.0, 70.0, 30.0)
  /// The decades of nanoseconds that the scale has, from 10 ns to 100 s.
  private static let decades = 1...11

  private static func x(_ nanoseconds: Double) -> Double {
    let (first, last) = (Double(decades.lowerBound), Double(decades.upperBound))
    let place = min(max(log10(nanoseconds), first), last)
    return left + (place - first) / (last - first) * (right - left)
  }

  private func svg(_ colors: Colors) -> String {
    let bottom = Self.top + Double(lines.count) * Self.step
    let height = bottom + 34
    var parts = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width.short) \(height.short)" \
      width="\(Self.width.short)" height="\(height.short)" role="img" \
      font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="14" \
      fill="\(colors.text)">
      """,
      "<title>What the same work takes: Concord, the floor, CohesionKit, Uniform and GRDB</title>",
    ]
    parts += legend(colors)
    parts += scale(colors, bottom: bottom)
    for (index, (entry, line)) in lines.enumerated() {
      parts += row(entry, line, at: Self.top + (Double(index) + 0.5) * Self.step, colors)
    }
    parts.append("</svg>\n")
    return parts.joined(separator: "\n")
  }

  private func legend(_ colors: Colors) -> [String] {
    let names = Mark.allCases.map { ($0, $0 == .floor ? "floor: the same on plain Swift collections" : $0.rawValue) }
    var x = 20.0
    return names.map { mark, name in
      defer { x += 38 + 6.7 * Double(name.count) }
      return mark.shape(x, 24, colors) + text(name, x + 13, 29)
    }
  }

  private func scale(_ colors: Colors, bottom: Double) -> [String] {
    Self.decades.map { decade in
      let nanoseconds = pow(10, Double(decade))
      let x = Self.x(nanoseconds)
      let name = Self.names[decade - Self.decades.lowerBound]
      return """
        <line x1="\(x.short)" y1="\((Self.top - 6).short)" x2="\(x.short)" y2="\(bottom.short)" \
        stroke="\(colors.line)"/>\(text(name, x, bottom + 18, anchor: "middle", size: 12))
        """
    }
  }

  private static let names = [
    "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s",
  ]

  private func row(_ entry: Entry, _ line: Report.Line, at y: Double, _ colors: Colors) -> [String] {
    let concord = line.concord ?? 0
    // The others above Concord's, which is the largest: each is seen where two are at one place.
    var marks = [(Mark.concord, concord)]
    if let floor = line.floor { marks.append((entry.floor, floor)) }
    if let earlier = line.earlier { marks.append((Mark(earlier.system), earlier.figure)) }
    let ends = marks.map { Self.x($0.1) }
    return [
      text(entry.label, Self.left - 16, y + 5, anchor: "end"),
      """
      <line x1="\((ends.min() ?? 0).short)" y1="\(y.short)" x2="\((ends.max() ?? 0).short)" y2="\(y.short)" \
      stroke="\(colors.line)" stroke-width="3"/>
      """,
    ] + marks.map { $0.shape(Self.x($1), y, colors) } + [
      text(line.unit.format(concord), Self.width - 8, y + 5, anchor: "end", color: colors.mark(.concord))
    ]
  }

  private func text(
    _ text: String, _ x: Double, _ y: Double, anchor: String = "start", size: Double = 14, color: String? = nil
  ) -> String {
    let fill = color.map { #" fill="\#($0)""# } ?? ""
    return """
      <text x="\(x.short)" y="\(y.short)" text-anchor="\(anchor)" font-size="\(size.short)"\(fill)>\(text)</text>
      """
  }
}

extension Double {
  /// The number as SVG takes it, to a tenth.
  fileprivate var short: String { formatted(places: 1, trimming: true) }
}
