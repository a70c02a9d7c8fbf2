// For generated code only. The compiler matches a pattern with labels to the last case of that name, whatever the labels. So no
// pattern distinguishes cases that differ by their labels only; reflection does.

/// Returns the payload at `index`, if `value` is the case with that name and these labels.
public func _payload<Enum, Payload>(
  _ index: Int, as type: Payload.Type, of value: Enum, case name: String, labels: [String?]
) -> Payload? {
  guard let payloads = payloads(of: value, case: name, labels: labels), index < payloads.count else { return nil }
  return payloads[index] as? Payload
}

/// Whether `value` is the case with that name and these labels.
public func _isCase<Enum>(_ value: Enum, case name: String, labels: [String?]) -> Bool {
  payloads(of: value, case: name, labels: labels) != nil
}

private func payloads(of value: some Any, case name: String, labels: [String?]) -> [Any]? {
  guard let content = Mirror(reflecting: value).children.first, content.label == name else { return nil }
  let tuple = Mirror(reflecting: content.value)
  // A single payload without a label is not a tuple.
  if labels == [nil] {
    let isLabelled = tuple.displayStyle == .tuple && !tuple.children.contains { $0.label == ".0" }
    return isLabelled ? nil : [content.value]
  }
  let children = Array(tuple.children)
  guard tuple.displayStyle == .tuple, children.count == labels.count else { return nil }
  for (index, child) in children.enumerated() where child.label != labels[index] ?? ".\(index)" { return nil }
  return children.map(\.value)
}
