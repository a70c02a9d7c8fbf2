#if Server
  import ConcordServer
  import Foundation

  /// A network that now and then delivers a message cut in its middle as if it were whole, as a broken proxy does, and notes each page as the device
  /// gets it.
  final class CutMessages: Transport {
    private let base: any Transport
    private let pages: Journal
    private let cuts: Journal
    private let numbers: Kept<SplitMix>

    /// - Parameters:
    ///   - pages: a file that gets each page, before the device does.
    ///   - cuts: a file that gets a ``MessageCut`` for each message that was cut.
    init(_ base: any Transport, pages: Journal, cuts: Journal, _ seed: UInt64) {
      (self.base, self.pages, self.cuts, numbers) = (base, pages, cuts, Kept(SplitMix(seed &+ 2)))
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      let isForPages = request.target == .path("pages", query: [])
      var sent = request
      let fate = random(below: 16)
      if fate == 0, let body = request.body { sent.body = cut(body, isForPages ? .pageRequest : .action) }
      var response = try await base.send(sent)
      guard response.status == 200, fate != 0 else { return response }
      if fate < 3 { response.body = cut(response.body, isForPages ? .page : .decision) }
      if isForPages {
        let text = String(decoding: request.body ?? Data(), as: UTF8.self)
        pages.write(ReceivedPage(request: text, answer: String(decoding: response.body, as: UTF8.self)))
      }
      return response
    }

    private func random(below bound: Int) -> Int {
      numbers.withLock { Int.random(in: 0..<max(1, bound), using: &$0) }
    }

    /// Returns the beginning of a message: as often as not it ends with a line, so that all that is left can be read.
    private func cut(_ body: Data, _ message: MessageCut) -> Data {
      cuts.write([message])
      let ends = body.indices.dropLast(2).filter { body[$0] == 0x0A }
      if !ends.isEmpty, random(below: 2) == 0 { return body[...ends[random(below: ends.count)]] }
      // Without the last brace, and the end of the line after it.
      return body.prefix(random(below: body.count - 2))
    }
  }
#endif
