#if Server
  /// A message that a device has sent or received without its end.
  enum MessageCut: String, Codable, CaseIterable {
    case pageRequest, page, action, decision
  }
#endif
