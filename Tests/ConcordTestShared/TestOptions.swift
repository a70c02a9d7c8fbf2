import Foundation

/// What the environment asks of tests that take long, or make their steps at random.
///
/// - `CONCORD_LONG=1`: they do all they can, which takes minutes.
/// - `CONCORD_RANDOM_STEPS`: how many steps they take in all, in worlds of some each.
/// - `CONCORD_RANDOM_SEED`: the seed of the one world to make. It is in the message of a failure.
/// - `CONCORD_RANDOM_FIRST`: the seed of the first world, or `random` for any.
package enum TestOptions {
  private static let environment = ProcessInfo.processInfo.environment

  package static let isLong = environment["CONCORD_LONG"] == "1"
  package static let steps = environment["CONCORD_RANDOM_STEPS"].flatMap(Int.init)

  private static let replayed = environment["CONCORD_RANDOM_SEED"].flatMap(UInt64.init)
  private static let first = environment["CONCORD_RANDOM_FIRST"].map {
    UInt64($0) ?? .random(in: 0..<UInt64(UInt32.max))
  }

  /// A number of another name.
  package static func number(_ name: String) -> Int? { environment[name].flatMap(Int.init) }

  /// The seed of a test that makes one world: `usual` unless told.
  package static func seed(_ usual: UInt64 = 0) -> UInt64 { replayed ?? first ?? usual }

  /// The seeds of so many worlds, at least one, or of the one that is told. The first is `usual` unless told.
  ///
  /// They are printed, for a world that ends the process.
  package static func seeds(_ worlds: Int, from usual: UInt64 = 0, of test: String = #fileID) -> Range<UInt64> {
    let start = seed(usual)
    let seeds = start..<start + UInt64(replayed == nil ? max(1, worlds) : 1)
    print("\(test): seeds \(seeds)")
    return seeds
  }
}
