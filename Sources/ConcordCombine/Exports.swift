// Importing this module also imports the module of publishers, whichever it is on the platform.
#if canImport(Combine)
  @_exported public import Combine

  // `Subscription` alone might be Concord's.
  typealias PublisherSubscription = Combine.Subscription
#elseif OpenCombine
  @_exported public import OpenCombine

  // `Subscription` alone might be Concord's.
  typealias PublisherSubscription = OpenCombine.Subscription
#endif
