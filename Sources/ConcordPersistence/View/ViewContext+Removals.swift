extension ViewContext: CollectingRemovals {
  func removalsFromNowOn() -> CollectedRemovals { core.parent.collectRemovals() }
}
