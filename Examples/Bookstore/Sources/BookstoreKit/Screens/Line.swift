/// A line of a screen: pieces of text, each with its style.
struct Line: Sendable, Equatable {
  struct Piece: Sendable, Equatable {
    var text: String
    var style: Style
  }

  var pieces: [Piece] = []

  init(_ text: String = "", _ style: Style = .plain) {
    if !text.isEmpty { pieces = [Piece(text: text.printable, style: style)] }
  }

  var text: String { pieces.map(\.text).joined() }
  var width: Int { pieces.reduce(0) { $0 + $1.text.columns } }

  static func + (left: Line, right: Line) -> Line {
    var line = left
    line.pieces += right.pieces
    return line
  }

  /// The line made exactly `width` columns wide.
  func fitted(to width: Int) -> Line {
    var line = Line()
    var left = width
    for piece in pieces {
      let text = piece.text.columns <= left ? piece.text : piece.text.clipped(to: left)
      line.pieces.append(Piece(text: text, style: piece.style))
      left -= text.columns
      if text != piece.text { break }
    }
    if left > 0 { line.pieces.append(Piece(text: String(repeating: " ", count: left), style: .plain)) }
    return line
  }

  /// The line as a terminal takes it.
  func ansi(colours: Bool) -> String {
    pieces.reduce(into: "") { text, piece in
      let codes = piece.style.codes(colours: colours)
      text += codes.isEmpty ? piece.text : "\u{1B}[\(codes)m\(piece.text)\u{1B}[0m"
    }
  }
}
