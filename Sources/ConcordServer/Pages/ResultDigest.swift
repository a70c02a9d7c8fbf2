#if Server
  import ConcordSync

  /// A digest of all that a subscription has, by which the server knows that a device has it already.
  ///
  /// It is made of the keys and the rows in any order, since sets of references have none.
  struct ResultDigest {
    private var hashes: [[UInt8]] = []

    init(_ entity: EntityDescription, _ entered: [StoredValue], _ collected: RowCollector) {
      hashes.reserveCapacity(entered.count + collected.rows.count + collected.gone.count)
      for id in entered { add("enter \(EntityKey(entity, id).noteName)") }
      for (key, row) in collected.rows { add("row ") { WireRow.write(row, for: key, to: &$0) } }
      for row in collected.gone { add("gone \(row.entity) \(row.id.noteName)") }
    }

    private mutating func add(_ text: String, _ write: (inout [UInt8]) -> Void = { _ in }) {
      var bytes = [UInt8](text.utf8)
      write(&bytes)
      hashes.append(SHA256.hash(bytes))
    }

    /// Returns a text that is another one for each other result, and tells nothing.
    func text(_ seal: SyncSeal) -> String {
      seal.digest([UInt8]("result ".utf8) + hashes.sorted { $0.lexicographicallyPrecedes($1) }.joined())
    }
  }
#endif
