import Concord
import Foundation

/// The role of each scalar in a search: a part of a word, the end of one, or nothing.
///
/// A scalar is decomposed (Unicode's NFKD), its case is folded, and accents are dropped: marks above, below and through letters, the points
/// of Hebrew and Arabic, and what cannot be seen. Marks that are vowels or consonants, as those of Indic scripts, stay.
package struct ScalarFolding: Sendable {
  /// A part of the folded form.
  enum Piece: Sendable {
    /// The bytes of letters and digits.
    case letters([UInt8])
    /// The bytes of a mark that stays, and its combining class.
    case mark([UInt8], order: UInt8)
    /// The bytes of a character that is a word of its own: scripts without spaces between words have them.
    case ideograph([UInt8])
    case end
  }

  let pieces: [Piece]

  private init(_ scalar: Unicode.Scalar) {
    pieces = Self.folded(scalar).map { scalar in
      let bytes = Array(String(scalar).utf8)
      let properties = scalar.properties
      switch properties.generalCategory {
      case .nonspacingMark, .spacingMark: return .mark(bytes, order: properties.canonicalCombiningClass.rawValue)
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
        .letterNumber, .otherNumber:
        return Self.isWord(scalar) ? .ideograph(bytes) : .letters(bytes)
      default: return .end
      }
    }
  }

  private static func folded(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
    var scalars = withoutAccents([scalar])
    // Upper case first: several lower case letters share one. Folding decomposes few letters once more.
    for _ in 0..<3 {
      let folded = withoutAccents(
        scalars.flatMap { Array($0.properties.uppercaseMapping.unicodeScalars) }
          .flatMap { Array($0.properties.lowercaseMapping.unicodeScalars) })
      if folded == scalars { break }
      scalars = folded
    }
    return scalars
  }

  private static func withoutAccents(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view).decomposedStringWithCompatibilityMapping.unicodeScalars.filter { !isDropped($0) }
  }

  private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    if properties.isDefaultIgnorableCodePoint { return true }
    switch properties.generalCategory {
    case .enclosingMark: return true
    case .nonspacingMark:
      let order = properties.canonicalCombiningClass.rawValue
      // Through the letter; points of Hebrew, Arabic and Syriac; around the letter.
      return order == 1 || (10...36).contains(order) || order >= 200
    default: return false
    }
  }

  private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.properties.isIdeographic { return true }
    return switch scalar.value {
    // Hiragana and Katakana.
    case 0x3041...0x3096, 0x309F, 0x30A1...0x30FA, 0x30FF, 0x31F0...0x31FF, 0x1B000...0x1B16F: true
    default: false
    }
  }

  /// A number that differs where scalars may be folded differently: of the rules above, and of Unicode's version, by scalars that are new
  /// in each. What was folded by other rules is folded again.
  package static let version: String = {
    let newest: [UInt32] = [0x20C0, 0x1FAE8, 0x2FFFC, 0x1C89, 0x20C1]
    let known = newest.count { Unicode.Scalar($0)?.properties.age != nil }
    return "1.\(known)"
  }()

  private static let known = Locked<[UInt32: ScalarFolding]>([:])

  /// A copy of what is known of the scalars that a text may have.
  struct Table {
    private var known: [UInt32: ScalarFolding]

    init() { known = ScalarFolding.known.withLock { $0 } }

    mutating func folding(of scalar: Unicode.Scalar) -> ScalarFolding {
      if let folding = known[scalar.value] { return folding }
      let folding = ScalarFolding(scalar)
      // Not shared while it is changed, so that nothing is copied.
      known = [:]
      known = ScalarFolding.known.withLock {
        $0[scalar.value] = folding
        return $0
      }
      return folding
    }
  }
}
