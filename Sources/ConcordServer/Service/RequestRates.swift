#if Server
  import Concord
  import Foundation

  /// The rates at which users may send requests: a bucket of tokens for each, one for a request, that fills up with time.
  final class RequestRates: Sendable {
    private struct Bucket {
      var tokens: Double
      var time: ContinuousClock.Instant
    }

    private let perSecond: Double
    private let burst: Double
    private let buckets = Locked<[String: Bucket]>([:])

    init(_ limits: SyncLimits) {
      perSecond = max(0.000_001, limits.requestsPerSecond)
      burst = Double(max(1, limits.burst))
    }

    /// The number of users after which those are forgotten whose buckets are full.
    private static let most = 10_000

    /// Takes a token.
    ///
    /// - Returns: the time after which there is one, if there is none now.
    func take(_ user: String, now: ContinuousClock.Instant = .now) -> Duration? {
      buckets.withLock { buckets in
        if buckets.count > Self.most { buckets = buckets.filter { tokens($1, now) < burst } }
        var bucket = buckets[user] ?? Bucket(tokens: burst, time: now)
        bucket = Bucket(tokens: tokens(bucket, now), time: now)
        defer { buckets[user] = bucket }
        guard bucket.tokens >= 1 else { return .seconds((1 - bucket.tokens) / perSecond) }
        bucket.tokens -= 1
        return nil
      }
    }

    private func tokens(_ bucket: Bucket, _ now: ContinuousClock.Instant) -> Double {
      min(burst, bucket.tokens + (now - bucket.time).inSeconds * perSecond)
    }
  }
#endif
