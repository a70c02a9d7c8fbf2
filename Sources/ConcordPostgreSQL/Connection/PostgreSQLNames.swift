#if PostgreSQL
  import ConcordPersistence

  /// A name, as SQL takes it whatever is in it. The server cuts off what is behind 63 bytes, so a longer one is replaced by its beginning and
  /// a number made of the whole.
  func identifier(_ name: String) -> String { "\"\(storedName(name).doubling(UInt8(ascii: "\"")))\"" }

  /// A name as the server keeps it.
  func storedName(_ name: String) -> String {
    let bytes = name.utf8.count
    if bytes <= 63 { return name }
    var beginning = ""
    for character in name {
      if beginning.utf8.count + character.utf8.count > 46 { break }
      beginning.append(character)
    }
    // FNV-1a.
    let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return "\(beginning)~\(String(repeating: "0", count: 16 - digits.count))\(digits)"
  }

  /// The name of a property's column: that of the property, unless each table has such a column already.
  func columnName(_ name: String) -> String {
    ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"].contains(name) ? "\(name)_" : name
  }

  /// A text as a literal of SQL, for commands that take no parameters.
  func literal(_ text: String) -> String {
    "E'\(text.doubling(UInt8(ascii: "\\")).doubling(UInt8(ascii: "'")))'"
  }
#endif
