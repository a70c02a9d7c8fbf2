#if Server
  /// A page as a device has received it: the request and the answer as they were on the wire.
  struct ReceivedPage: Codable {
    var request: String
    var answer: String
  }
#endif
