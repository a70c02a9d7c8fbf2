import Foundation

extension String {
  /// The string in Unicode's normalization form C, which is the same for all strings that are equal.
  package var canonicallyComposed: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    // Foundation on Linux composes no final consonant with a Korean syllable that is composed already.
    let hasFinalConsonant = unicodeScalars.contains { (0x11A8...0x11C2).contains($0.value) }
    return (hasFinalConsonant ? decomposedStringWithCanonicalMapping : self).precomposedStringWithCanonicalMapping
  }
}
