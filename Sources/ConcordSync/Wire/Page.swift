import ConcordConnect

/// The changes of whole commits between two positions, for the subscriptions of one device.
package struct Page: Sendable {
  package struct Subscription: Sendable {
    /// The reason for which the server does not serve it; `nil` if it does.
    package var refusal: String?
    /// Whether the subscription is refused because the server does not know the publication, which another server may.
    package var isUnknown = false
    /// The type of its rows.
    package var entity = ""
    /// The server's name for the condition by which it chooses the rows. It is another one when the condition is.
    package var condition = ""
    /// Whether ``entered`` are all of its rows.
    package var isWhole = false
    /// The keys of the rows that it did not have.
    package var entered: [StoredValue] = []
    /// The keys of the rows that it has no longer.
    package var left: [StoredValue] = []

    package init() {}

    package var isEmpty: Bool { refusal == nil && !isWhole && entered.isEmpty && left.isEmpty }
  }

  /// The position of the request.
  package var from: String?
  package var position: String
  package var user: String
  /// The number of the device's actions up to the position.
  package var actions: Int64
  /// The number of the device's actions that were refused up to the position.
  package var refusedActions: Int64 = 0
  /// The keys of the device's actions that the page contains and that no earlier one did.
  package var keys: [String]
  package var schema: WireSchema
  package var subscriptions: [Subscription]
  package var rows: [KeyedRow] = []
  /// Rows that the server has no longer, though rows of a subscription still refer to them.
  package var gone: [GoneRow] = []

  /// A row that is not there.
  package struct GoneRow: Sendable, Hashable {
    package var entity: String
    package var id: StoredValue

    package init(entity: String, id: StoredValue) { (self.entity, self.id) = (entity, id) }
  }

  package init(
    from: String?, position: String, user: String, actions: Int64, keys: [String], schema: WireSchema,
    subscriptions: [Subscription]
  ) {
    (self.from, self.position, self.user, self.actions, self.keys) = (from, position, user, actions, keys)
    (self.schema, self.subscriptions) = (schema, subscriptions)
  }

  /// Whether the page changes nothing but the position.
  package var isEmpty: Bool { keys.isEmpty && rows.isEmpty && gone.isEmpty && subscriptions.allSatisfy(\.isEmpty) }
}

// MARK: Writing

extension Page {
  /// A line of JSON for the head, for some keys, for each row, and for the end.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    func line(_ value: WireValue) {
      value.write(to: &bytes)
      bytes.append(0x0A)
    }
    line(
      .object([
        "version": .integer(PageRequest.version), "from": from.map { .text($0) } ?? .null, "position": .text(position),
        "user": .text(user), "actions": .integer(actions), "refused": .integer(refusedActions),
        "keys": .array(keys.map { .text($0) }),
        "schema": schema.wire,
        "subscriptions": .array(
          subscriptions.map { subscription in
            if let refusal = subscription.refusal {
              return .object(["refused": .text(refusal), "unknown": .bool(subscription.isUnknown)])
            }
            return .object([
              "entity": .text(subscription.entity), "whole": .bool(subscription.isWhole),
              "condition": .text(subscription.condition),
            ])
          }),
      ]))
    for (index, subscription) in subscriptions.enumerated() {
      for (name, keys) in [("enter", subscription.entered), ("leave", subscription.left)] {
        for start in stride(from: 0, to: keys.count, by: 1000) {
          let some = keys[start..<min(start + 1000, keys.count)]
          line(.object([name: .array([.integer(index), .array(some.map(\.wire))])]))
        }
      }
    }
    for (key, row) in rows {
      bytes += Self.rowStart
      WireRow.write(row, for: key, to: &bytes)
      bytes += [UInt8(ascii: "}"), 0x0A]
    }
    for row in gone { line(.object(["gone": .array([.text(row.entity), row.id.wire])])) }
    line(.object(["end": .integer(rows.count)]))
    return bytes
  }
}

// MARK: Reading

extension Page {
  private static let rowStart = Array("{\"row\":".utf8)

  /// Reads a page.
  ///
  /// - Throws: ``WireError`` if it is no page, or was cut; ``WireRowReader/Incompatible``; ``/ConcordModel/StoreError`` if a value does not have
  ///   the type of its column.
  package init(parsing bytes: some Collection<UInt8>, _ model: Model) throws {
    // The lines of an array are not copied.
    var lines = Array(bytes).split(separator: 0x0A).makeIterator()
    guard let first = lines.next() else { throw WireError("an empty page") }
    let head = try WireValue(parsing: first)
    self.init(
      from: head["from"].isNull ? nil : try head["from"].text("position"),
      position: try head["position"].text("position"), user: try head["user"].text("user"),
      actions: try head["actions"].integer("number of actions"),
      keys: try head["keys"].array("list of keys").map { try $0.text("key") }, schema: try WireSchema(head["schema"]),
      subscriptions: try head["subscriptions"].array("list of subscriptions").map { wire in
        var subscription = Subscription()
        if !wire["refused"].isNull {
          subscription.refusal = try wire["refused"].text("reason")
          subscription.isUnknown = try !wire["unknown"].isNull && wire["unknown"].bool("unknown")
        } else {
          subscription.entity = try wire["entity"].text("entity")
          subscription.isWhole = try wire["whole"].bool("whole")
          subscription.condition = try wire["condition"].text("condition")
        }
        return subscription
      })
    if !head["refused"].isNull { refusedActions = try head["refused"].integer("number of actions") }
    let reader = try WireRowReader(schema, model)
    var count: Int64 = 0
    while let line = lines.next() {
      // Most lines, for which no object is made.
      if line.starts(with: Self.rowStart), line.last == UInt8(ascii: "}"),
        let wire = try? WireValue(parsing: line.dropFirst(Self.rowStart.count).dropLast())
      {
        count += 1
        if let row = try reader.row(wire) { rows.append(row) }
        continue
      }
      let wire = try WireValue(parsing: line)
      guard let (name, value) = try wire.object("line").first else { throw WireError("an empty line") }
      switch name {
      case "row":
        count += 1
        if let row = try reader.row(value) { rows.append(row) }
      case "gone":
        let parts = try value.array("key")
        guard parts.count == 2 else { throw WireError("a key of \(parts.count.of("part"))") }
        gone.append(GoneRow(entity: try parts[0].text("name of an entity"), id: try StoredValue(parts[1])))
      case "enter": try take(value) { $0.entered += $1 }
      case "leave": try take(value) { $0.left += $1 }
      case "end":
        guard try value.integer("number of rows") == count, lines.next() == nil else {
          throw WireError("the page has lost rows")
        }
        return
      // Of a later version, and not needed.
      default: break
      }
    }
    throw WireError("the page was cut")
  }

  private mutating func take(_ wire: WireValue, _ body: (inout Subscription, [StoredValue]) -> Void) throws {
    let parts = try wire.array("list of keys")
    guard parts.count == 2, let index = Int(exactly: try parts[0].integer("subscription")),
      subscriptions.indices.contains(index)
    else { throw WireError("keys of an unknown subscription") }
    body(&subscriptions[index], try parts[1].array("list of keys").map(StoredValue.init))
  }
}
