/// A sum of floating-point numbers without rounding: a number of 2,200 bits, as which each of them can be added and taken away exactly.
///
/// It is a superaccumulator after U. Kulisch: so the sum does not depend on the order, nor on what was taken away again, and is rounded once,
/// when it is read.
package struct ExactSum: Sendable {
  /// The digits to the base 2³², the lowest first; each may exceed the base until carries are propagated.
  var digits = ContiguousArray<Int64>(repeating: 0, count: 70)
  /// The number of changes since carries were propagated.
  var changeCount = 0
  var (nanCount, positiveInfinities, negativeInfinities) = (0, 0, 0)

  package init() {}

  package mutating func add(_ number: Double) { change(number, by: 1) }
  mutating func remove(_ number: Double) { change(number, by: -1) }

  private mutating func change(_ number: Double, by sign: Int64) {
    guard number.isFinite else {
      if number.isNaN {
        nanCount += Int(sign)
      } else if number > 0 {
        positiveInfinities += Int(sign)
      } else {
        negativeInfinities += Int(sign)
      }
      return
    }
    if number == 0 { return }
    // number = mantissa · 2^(exponent - 1074)
    let biased = Int(number.exponentBitPattern)
    let mantissa = biased == 0 ? number.significandBitPattern : number.significandBitPattern | (1 << 52)
    let exponent = max(0, biased - 1)
    let shifted = UInt128(mantissa) << UInt128(exponent % 32)
    let direction = number < 0 ? -sign : sign
    for offset in 0..<3 {
      let digit = Int64(truncatingIfNeeded: (shifted >> UInt128(32 * offset)) & 0xFFFF_FFFF)
      digits[exponent / 32 + offset] += direction * digit
    }
    noteChange()
  }

  mutating func noteChange() {
    changeCount += 1
    if changeCount >= 1 << 28 { propagate() }
  }

  /// Makes all digits but the highest numbers between 0 and the base.
  mutating func propagate() {
    changeCount = 0
    var carry: Int64 = 0
    for index in digits.indices {
      let digit = digits[index] + carry
      if index == digits.count - 1 {
        digits[index] = digit
      } else {
        digits[index] = digit & 0xFFFF_FFFF
        carry = digit >> 32
      }
    }
  }

  /// The sum, rounded once.
  package var value: Double {
    if nanCount > 0 || positiveInfinities > 0 && negativeInfinities > 0 { return .nan }
    if positiveInfinities > 0 { return .infinity }
    if negativeInfinities > 0 { return -.infinity }
    var sum = self
    sum.propagate()
    let isNegative = sum.digits.last.map { $0 < 0 } ?? false
    if isNegative {
      for index in sum.digits.indices { sum.digits[index] = -sum.digits[index] }
      sum.propagate()
    }
    guard let highest = sum.digits.lastIndex(where: { $0 != 0 }) else { return 0 }
    let lowest = max(0, highest - 2)
    var mantissa: UInt128 = 0
    for index in (lowest...highest).reversed() { mantissa = mantissa << 32 | UInt128(sum.digits[index]) }
    // Of what lies below only matters whether there is something.
    if sum.digits[..<lowest].contains(where: { $0 != 0 }) { mantissa |= 1 }
    let magnitude = Double(sign: .plus, exponent: 32 * lowest - 1074, significand: Double(mantissa))
    return isNegative ? -magnitude : magnitude
  }
}
