// For generated code only.

/// A placeholder for a payload of an enum. A key path to its value has the payload's type, which `ConsistentTypes` needs.
public struct _Payload<Value> {
  /// The payload, which is never read.
  public var value: Value
}
