// What stores compute in parts is put together here.
extension ExactSum {
  /// Adds another sum.
  package mutating func add(_ other: ExactSum) {
    var other = other
    other.propagate()
    propagate()
    for index in digits.indices { digits[index] += other.digits[index] }
    changeCount = 1
    nanCount += other.nanCount
    positiveInfinities += other.positiveInfinities
    negativeInfinities += other.negativeInfinities
  }

  /// Adds numbers that have their sign and their exponent in common.
  ///
  /// - Parameters:
  ///   - significands: the sum of their significand bits, below 2⁹³.
  ///   - count: how many they are.
  ///   - exponent: the bits of their exponent.
  package mutating func add(significands: UInt128, count: Int, exponent: Int, isNegative: Bool) {
    if count == 0 { return }
    if exponent == 0x7FF {
      // Of infinity all significand bits are 0, of NaN not.
      if significands > 0 {
        nanCount += 1
      } else if isNegative {
        negativeInfinities += 1
      } else {
        positiveInfinities += 1
      }
      return
    }
    let mantissas = significands + (exponent == 0 ? 0 : UInt128(count) << 52)
    let shift = max(0, exponent - 1)
    let shifted = mantissas << UInt128(shift % 32)
    for offset in 0..<4 {
      let digit = Int64(truncatingIfNeeded: (shifted >> UInt128(32 * offset)) & 0xFFFF_FFFF)
      digits[shift / 32 + offset] += isNegative ? -digit : digit
    }
    noteChange()
  }

  /// The sum as whole numbers, for those who keep it as bytes.
  package var words: [Int64] {
    Array(digits) + [Int64(changeCount), Int64(nanCount), Int64(positiveInfinities), Int64(negativeInfinities)]
  }

  /// Creates the sum that ``words`` tells; `nil` if they are of none.
  package init?(words: [Int64]) {
    self.init()
    guard words.count == digits.count + 4 else { return nil }
    for index in digits.indices { digits[index] = words[index] }
    let rest = words[digits.count...].map { Int($0) }
    (changeCount, nanCount, positiveInfinities, negativeInfinities) = (rest[0], rest[1], rest[2], rest[3])
  }
}
