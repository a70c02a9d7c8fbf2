import ConcordConnect

/// Writes rows for the wire.
package enum WireRow {
  /// Writes `["Order", key, stamp, [values], [lists]]`, in the order of the sender's schema. Pages have many rows, so no ``WireValue`` is made of
  /// one.
  package static func write(_ row: StoredRow, for key: EntityKey, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "["))
    WireValue.write(key.entity.name, to: &bytes)
    bytes.append(UInt8(ascii: ","))
    key.id.write(to: &bytes)
    bytes.append(UInt8(ascii: ","))
    WireValue.double(row.stamp).write(to: &bytes)
    bytes.append(UInt8(ascii: ","))
    list(row.values, to: &bytes) { $0.write(to: &$1) }
    bytes.append(UInt8(ascii: ","))
    list(row.collections, to: &bytes) { elements, bytes in
      list(elements, to: &bytes) { values, bytes in list(values, to: &bytes) { $0.write(to: &$1) } }
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private static func list<C: Collection>(
    _ elements: C, to bytes: inout [UInt8], _ write: (C.Element, inout [UInt8]) -> Void
  ) {
    bytes.append(UInt8(ascii: "["))
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      write(element, &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }
}

/// Reads rows from the wire: what both models know.
package struct WireRowReader {
  private let model: Model
  private var plans: [String: Plan] = [:]

  /// The reason why a model cannot read the rows of another one.
  package struct Incompatible: Error, CustomStringConvertible {
    package let description: String
  }

  private struct Plan {
    let entity: EntityDescription
    let columns: [Source]
    let lists: [(position: Int, columns: [Source])?]
    let sent: WireSchema.Table
  }

  private enum Source {
    case position(Int)
    case value(StoredValue)
  }

  package init(_ schema: WireSchema, _ model: Model) throws {
    self.model = model
    for (name, table) in schema.tables {
      guard let entity = model.entity(named: name) else { continue }
      let lists: [(position: Int, columns: [Source])?] = try entity.collections.map { collection in
        guard let position = table.lists.firstIndex(where: { $0.name == collection.name }) else { return nil }
        return (position, try collection.columns.map { try Self.source($0, table.lists[position].columns, entity) })
      }
      plans[name] = Plan(
        entity: entity, columns: try entity.columns.map { try Self.source($0, table.columns, entity) }, lists: lists,
        sent: table)
    }
  }

  private static func source(
    _ column: ColumnDescription, _ sent: [WireSchema.WireColumn], _ entity: EntityDescription
  ) throws -> Source {
    if let position = sent.firstIndex(where: { $0.name == column.name }) {
      guard sent[position].coding == column.coding.name else {
        throw Incompatible(description: "\(entity.name).\(column.name) is of another type on the server")
      }
      return .position(position)
    }
    if column.role == .count { return .value(column.isOptional ? .null : .integer(0)) }
    if let value = column.defaultValue { return .value(value) }
    if column.isOptional { return .value(.null) }
    throw Incompatible(
      description: "the server does not know \(entity.name).\(column.name), which has no default value")
  }

  /// Returns a row; `nil` if the model does not know its type.
  ///
  /// - Throws: ``WireError``; ``/ConcordModel/StoreError/unreadableColumn(entity:id:column:reason:)`` if a value does not have the type of its
  ///   column.
  package func row(_ wire: WireValue) throws -> KeyedRow? {
    let parts = try wire.array("row")
    guard parts.count == 5 else { throw WireError("a row of \(parts.count.of("part"))") }
    let name = try parts[0].text("name of an entity")
    guard let plan = plans[name] else { return nil }
    let values = try parts[3].array("list of values")
    let lists = try parts[4].array("list of lists")
    guard values.count == plan.sent.columns.count, lists.count == plan.sent.lists.count else {
      throw WireError("a row of \(name) does not fit its schema")
    }
    let row = StoredRow(
      values: try plan.columns.map { try Self.value($0, values) },
      collections: try plan.lists.map { list -> StoredElements in
        guard let list else { return [] }
        let sent = try lists[list.position].array("list")
        var elements = StoredElements(width: list.columns.count, capacity: sent.count)
        for element in sent {
          let values = try element.array("element")
          guard values.count == plan.sent.lists[list.position].columns.count else {
            throw WireError("an element of \(name) does not fit its schema")
          }
          try elements.append { try Self.value(list.columns[$0], values) }
        }
        return elements
      }, stamp: try parts[2].double("stamp"))
    let key = EntityKey(plan.entity, try StoredValue(parts[1]))
    try plan.entity.check(row, key: key.id)
    return (key, row)
  }

  private static func value(_ source: Source, _ values: [WireValue]) throws -> StoredValue {
    switch source {
    case .position(let position): try StoredValue(values[position])
    case .value(let value): value
    }
  }
}
