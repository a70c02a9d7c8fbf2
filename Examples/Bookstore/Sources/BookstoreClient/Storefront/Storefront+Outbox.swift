extension Storefront {
  /// What waits for the server, and what the server refused.
  var outboxContents: OutboxContents { OutboxContents() }
}
