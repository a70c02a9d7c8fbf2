import ConcordConnect

/// The columns of entities as one end of the wire has them, by which the other end reads rows.
package struct WireSchema: Sendable {
  /// The columns of one entity's rows.
  package struct Table: Sendable {
    package var columns: [WireColumn]
    package var lists: [(name: String, columns: [WireColumn])]
  }

  package struct WireColumn: Sendable, Hashable {
    package var name: String
    /// The name of the coding of its values.
    package var coding: String
  }

  package var tables: [String: Table] = [:]

  package init(_ entities: some Sequence<EntityDescription>) {
    for entity in entities {
      tables[entity.name] = Table(
        columns: entity.columns.map(WireColumn.init),
        lists: entity.collections.map { ($0.name, $0.columns.map(WireColumn.init)) })
    }
  }

  package var wire: WireValue {
    .object(
      tables.mapValues { table in
        .object([
          "columns": .array(table.columns.map(\.wire)),
          "lists": .array(
            table.lists.map { .object(["name": .text($0.name), "columns": .array($0.columns.map(\.wire))]) }),
        ])
      })
  }

  package init(_ wire: WireValue) throws {
    for (name, table) in try wire.object("schema") {
      tables[name] = Table(
        columns: try table["columns"].array("list of columns").map(WireColumn.init),
        lists: try table["lists"].array("list of lists").map { list in
          (try list["name"].text("name"), try list["columns"].array("list of columns").map(WireColumn.init))
        })
    }
  }

  /// A text that differs between models whose rows differ.
  package var fingerprint: String { wire.json }
}

extension WireSchema.WireColumn {
  init(_ column: ColumnDescription) { self.init(name: column.name, coding: column.coding.name) }
  var wire: WireValue { .array([.text(name), .text(coding)]) }
  init(_ wire: WireValue) throws {
    let parts = try wire.array("column")
    guard parts.count >= 2 else { throw WireError("a column has no coding") }
    self.init(name: try parts[0].text("name"), coding: try parts[1].text("coding"))
  }
}
