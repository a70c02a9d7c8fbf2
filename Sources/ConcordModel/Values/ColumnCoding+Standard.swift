import Foundation

extension ColumnCoding {
  /// Returns a coding that tells by their stored forms which values are equal, for a program that knows only the name of a coding; `nil` if
  /// it takes the program's own type.
  package static func comparing(named name: String) -> ColumnCoding? {
    // What is kept as raw values, or as JSON, is compared by these.
    let form = String(name.prefix { $0 != "(" })
    return standard[form == "JSON" ? "String" : form]
  }

  private static let standard: [String: ColumnCoding] = {
    let codings = [
      ColumnCoding(PlainCoding<Bool>.self), ColumnCoding(PlainCoding<Int>.self), ColumnCoding(PlainCoding<Int8>.self),
      ColumnCoding(PlainCoding<Int16>.self), ColumnCoding(PlainCoding<Int32>.self),
      ColumnCoding(PlainCoding<Int64>.self), ColumnCoding(PlainCoding<UInt>.self),
      ColumnCoding(PlainCoding<UInt8>.self), ColumnCoding(PlainCoding<UInt16>.self),
      ColumnCoding(PlainCoding<UInt32>.self), ColumnCoding(PlainCoding<UInt64>.self),
      ColumnCoding(PlainCoding<Double>.self), ColumnCoding(PlainCoding<Float>.self),
      ColumnCoding(PlainCoding<String>.self), ColumnCoding(PlainCoding<Data>.self),
      ColumnCoding(PlainCoding<Date>.self), ColumnCoding(PlainCoding<UUID>.self), ColumnCoding(PlainCoding<URL>.self),
      ColumnCoding(PlainCoding<Decimal>.self), ColumnCoding(PlainCoding<Character>.self),
    ]
    return Dictionary(codings.map { ($0.name, $0) }) { first, _ in first }
  }()
}
