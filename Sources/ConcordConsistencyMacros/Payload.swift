// For generated code only.

/// Stands for a payload of an enum: a key path to it says the payload's type, which `ConsistentTypes` asks for.
public struct _Payload<Value> {
  /// The payload. There never is one.
  public var value: Value
}
