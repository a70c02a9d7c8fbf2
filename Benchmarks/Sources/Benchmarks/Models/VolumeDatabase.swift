#if PostgreSQL
  import CLibPQ
  import ConcordPersistence
  import ConcordPostgreSQL
  import Foundation

  /// A schema with volumes in a PostgreSQL database, and who works on it: Concord, or libpq alone. It goes with the object.
  final class VolumeDatabase {
    typealias Container = GenericPersistentContainer<ContextStrategy.Direct>

    /// Where the server is: `Scripts/bench` starts one.
    static let url = ProcessInfo.processInfo.environment["CONCORD_BENCHMARK_POSTGRESQL"]

    let schema: String
    let waits: Bool
    private let isOwner: Bool
    private var attached: [(container: Container, store: PersistentStore)] = []

    /// Makes a schema with the tables that Concord makes, and so many rows in them.
    ///
    /// - Parameter waits: whether a commit returns when it is on the disk.
    init(_ count: Int, waits: Bool = true) throws {
      (schema, self.waits, isOwner) = ("benchmark-\(UUID().uuidString)", waits, true)
      _ = try concord()
      // It would listen, and ask with each commit.
      detach()
      let raw = try raw()
      // In parts, as one statement notes all of its keys.
      for start in stride(from: 0, to: count, by: 50_000) {
        try raw.run(
          """
          INSERT INTO "Volume" (\(RawVolume.columns), _stamp) SELECT i, 'A volume with the number ' || i || ', seen 0 times', \
          'Author ' || i % 1000, i::bigint * 7919 % 1000003, i / 4.0, i * 3600.0, 0 \
          FROM generate_series(\(start), \(min(count, start + 50_000) - 1)) AS i
          """)
      }
      try raw.run("ANALYZE \"Volume\"")
    }

    /// A schema that another process has made.
    init(schema: String, waits: Bool) { (self.schema, self.waits, isOwner) = (schema, waits, false) }

    deinit {
      detach()
      guard isOwner else { return }
      try? raw().run("DROP SCHEMA \"\(schema)\" CASCADE")
    }

    private func detach() {
      for (container, store) in attached { try? container.detach(persistentStore: store) }
      attached = []
    }

    private var connection: String {
      let url = Self.url ?? ""
      return waits ? url : url + (url.contains("?") ? "&" : "?") + "options=-c%20synchronous_commit%3Doff"
    }

    /// A container that is attached as long as this lives.
    func concord() throws -> Container {
      let container = Container(name: "Volumes", model: try VolumeFile.model())
      let configuration = StoreConfiguration(
        type: .postgreSQL,
        options: [ConcordPostgreSQLOption: connection, ConcordPostgreSQLSchemaOption: schema])
      attached.append((container, try container.attachPersistentStore(for: configuration)))
      return container
    }

    /// libpq alone, in the schema.
    func raw() throws -> RawConnection {
      let raw = try RawConnection(connection)
      try raw.run("SET client_min_messages TO warning")
      try raw.run("SET search_path TO \"\(schema)\", pg_temp")
      // As a service that writes with plain SQL and wakes others by itself.
      try raw.run("SET concord.notifies TO off")
      return raw
    }
  }

  // The binary forms of the protocol, the most significant byte first.
  extension RawVolume {
    static let types: [UInt32] = [20, 25, 25, 20, 701, 701, 701]
    private static let arrays: [UInt32] = [1016, 1009, 1009, 1016, 1022, 1022, 1022]
    private static let updated = """
      ON CONFLICT (id) DO UPDATE SET title = excluded.title, author = excluded.author, year = excluded.year, \
      price = excluded.price, published = excluded.published, _stamp = excluded._stamp
      """
    private static let upsertOne = """
      INSERT INTO "Volume" (\(columns), _stamp) VALUES ($1, $2, $3, $4, $5, $6, $7) \(updated)
      """
    private static let upsertMany = """
      INSERT INTO "Volume" (\(columns), _stamp) SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7) \(updated)
      """

    private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    private static func values(_ volume: Volume, stamp: Double) -> [[UInt8]] {
      [
        bytes(Int64(volume.id)), Array(volume.title.utf8), Array(volume.author.utf8), bytes(Int64(volume.year)),
        bytes(volume.price.bitPattern), bytes(volume.published.timeIntervalSinceReferenceDate.bitPattern),
        bytes(stamp.bitPattern),
      ]
    }

    static func upsert(_ volume: Volume, _ raw: RawConnection) throws {
      PQclear(try raw.run(upsertOne, types, values(volume, stamp: 0)))
    }

    /// All in one statement, as arrays.
    static func upsert(_ volumes: ArraySlice<Volume>, _ raw: RawConnection) throws {
      var columns = types.map { type in
        bytes(Int32(1)) + bytes(Int32(0)) + bytes(type) + bytes(Int32(volumes.count)) + bytes(Int32(1))
      }
      for volume in volumes {
        for (index, value) in values(volume, stamp: 0).enumerated() {
          columns[index] += bytes(Int32(value.count))
          columns[index] += value
        }
      }
      PQclear(try raw.run(upsertMany, arrays, columns))
    }

    static func find(_ id: Int, _ raw: RawConnection) throws -> Volume? {
      let result = try raw.run("SELECT \(columns) FROM \"Volume\" WHERE id = $1", [20], [bytes(Int64(id))])
      defer { PQclear(result) }
      return PQntuples(result) > 0 ? read(result, 0) : nil
    }

    static func all(_ raw: RawConnection, _ rest: String) throws -> [Volume] {
      let result = try raw.run("SELECT \(columns) FROM \"Volume\" \(rest)", [], [])
      defer { PQclear(result) }
      return (0..<PQntuples(result)).map { read(result, $0) }
    }

    private static func read(_ result: OpaquePointer?, _ row: Int32) -> Volume {
      func bits(_ column: Int32) -> UInt64 {
        guard let bytes = PQgetvalue(result, row, column) else { return 0 }
        return UInt64(bigEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
      }
      func text(_ column: Int32) -> String {
        let count = Int(PQgetlength(result, row, column))
        return String(
          decoding: UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: count), as: UTF8.self)
      }
      return Volume(
        id: Int(Int64(bitPattern: bits(0))), title: text(1), author: text(2), year: Int(Int64(bitPattern: bits(3))),
        price: Double(bitPattern: bits(4)),
        published: Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits(5))))
    }
  }
#endif
