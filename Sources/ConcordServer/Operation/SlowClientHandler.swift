#if Server
  import NIOCore

  /// Closes a connection that has taken bytes of answers and cannot pass them on.
  ///
  /// Whoever writes an answer learns late that the connection takes no more (``SlowClient``), so that one may end while its bytes are still there. The
  /// head of the next one, to a client that sends requests before it has read the answers, then waits without a limit of its own.
  final class SlowClientHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let limit: TimeAmount
    private var closing: Scheduled<Void>?

    /// - Parameter time: the longest time that a client may take to read ``SlowClient/chunk`` bytes.
    init(_ time: Duration) {
      // A client that is as slow as it may be reads what a connection has been handed at once, and what it had, in that time.
      limit = TimeAmount(time * (SlowClient.burst + 1))
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      if context.channel.isWritable {
        end()
      } else if closing == nil {
        let channel = context.channel
        closing = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
      }
      context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
      end()
      context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    private func end() {
      closing?.cancel()
      closing = nil
    }
  }
#endif
