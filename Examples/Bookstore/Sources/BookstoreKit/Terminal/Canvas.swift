/// Something to draw a picture on.
@MainActor
protocol Canvas: AnyObject {
  var size: (columns: Int, rows: Int) { get }
  func show(_ lines: [Line])
}

/// A canvas that nobody looks at, of a fixed size.
@MainActor
final class HiddenCanvas: Canvas {
  let size = (columns: 100, rows: 40)
  private(set) var text = ""

  func show(_ lines: [Line]) { text = lines.map { $0.ansi(colours: true) }.joined(separator: "\n") }
}
