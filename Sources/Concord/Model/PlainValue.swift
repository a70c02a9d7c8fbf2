public import Foundation

/// A type of the standard library or of Foundation in which no entity can stand. For generated code only.
public protocol _PlainValue {}

extension Bool: _PlainValue {}
extension Character: _PlainValue {}
extension Data: _PlainValue {}
extension Date: _PlainValue {}
extension Decimal: _PlainValue {}
extension Double: _PlainValue {}
extension Duration: _PlainValue {}
extension Float: _PlainValue {}
extension Int: _PlainValue {}
extension Int8: _PlainValue {}
extension Int16: _PlainValue {}
extension Int32: _PlainValue {}
extension Int64: _PlainValue {}
extension String: _PlainValue {}
extension Substring: _PlainValue {}
extension UInt: _PlainValue {}
extension UInt8: _PlainValue {}
extension UInt16: _PlainValue {}
extension UInt32: _PlainValue {}
extension UInt64: _PlainValue {}
extension URL: _PlainValue {}
extension UUID: _PlainValue {}
