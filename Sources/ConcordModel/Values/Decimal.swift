public import Foundation

// Stored as text with all digits. Equal numbers have the same text: Foundation leaves out trailing zeros.
extension Decimal: PersistentValue {
  public static var storageClass: StorageClass { .text }
  public static var comparison: StoredComparison { .equality }

  public var storedValue: StoredValue {
    if isNaN { return .text("NaN") }
    var digits = Substring(significand.description)
    if digits == "0" { return .text("0") }
    var exponent = self.exponent
    // The greatest exponent is 127; the digits of such a number may end with zeros.
    while digits.hasSuffix("0"), exponent < 127 {
      digits.removeLast()
      exponent += 1
    }
    let sign = self.sign == .minus ? "-" : ""
    if exponent == 0 { return .text(sign + digits) }
    guard exponent < 0, exponent >= -40 else { return .text("\(sign)\(digits)e\(exponent)") }
    let padded = String(repeating: "0", count: Swift.max(0, 1 - exponent - digits.count)) + digits
    return .text("\(sign)\(padded.dropLast(-exponent)).\(padded.suffix(-exponent))")
  }

  public init(storedValue: StoredValue) throws {
    guard case .text(let text) = storedValue, let value = Decimal(storedText: text) else {
      throw StoreError.unreadable(storedValue, as: Decimal.self)
    }
    self = value
  }

  private init?(storedText text: String) {
    if text == "NaN" {
      self = .nan
      return
    }
    let isNegative = text.hasPrefix("-")
    let parts = text.dropFirst(isNegative ? 1 : 0).split(separator: "e", maxSplits: 1)
    guard let number = parts.first else { return nil }
    let halves = number.split(separator: ".", maxSplits: 1)
    let fraction = halves.count == 2 ? halves[1] : ""
    let digits = (halves.first ?? "") + fraction
    guard digits.utf8.allSatisfy({ (48...57).contains($0) }), digits.count <= 80,
      let significand = Decimal(string: String(digits))
    else { return nil }
    var exponent = -fraction.utf8.count
    if parts.count == 2 {
      guard let given = Int(parts[1]), (-128...127).contains(given) else { return nil }
      exponent += given
    }
    self.init(sign: isNegative ? .minus : .plus, exponent: exponent, significand: significand)
    // A significand that ends with zeros has an exponent of its own, and the sum of both may exceed the greatest one.
    if isNaN, let whole = Decimal(string: text) { self = whole }
    if isNaN { return nil }
  }
}
