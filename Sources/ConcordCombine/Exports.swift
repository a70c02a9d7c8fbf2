// A user who imports this module has the publishers' module, too, without asking which one it is here.
#if canImport(Combine)
  @_exported public import Combine

  // `Subscription` alone might be Concord's.
  typealias PublisherSubscription = Combine.Subscription
#elseif OpenCombine
  @_exported public import OpenCombine

  // `Subscription` alone might be Concord's.
  typealias PublisherSubscription = OpenCombine.Subscription
#endif
