import ConcordServer
import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import NIOCore

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Row {
  static var catchingUp: Row {
    Row(
      "catch up with 100,000 rows", goal: .floor(times: 1.5),
      floor: "reading them with GRDB, sending them as JSON by a plain route, and upserting them with GRDB",
      repetitions: 5
    ) { stopwatch in
      let count = 100_000
      let watch = stopwatch.acrossThreads
      let server = try OrderServer(orders: (0..<count).map { Order(id: $0, customer: 1) })
      let plain = try PlainOrders(server.file)
      return Sides {
        let device = try blocking { try await OrderDevice(of: 1, at: server.web.url) }
        let time = try watch.nanoseconds {
          try blocking { try await device.sync.subscribe("orders").ready() }
        }
        let found = try device.connect.newBackgroundContext().fetch(FetchDescriptor<Order>())
        try expect(found.count, is: count, "the rows of the device")
        try blocking { try await device.stop() }
        return time
      } floor: {
        try plain.catchUp(watch, count)
      }
    }
  }
}

/// Orders by hand: a route that sends all rows of a file as JSON, and a client that upserts them into another file.
private final class PlainOrders {
  /// As the column of a row.
  struct Row: Codable {
    var id: Int64
    var customer: Int64
    var title: String
    var price: Double
    var note: String
    var stamp: Double
  }

  private let web: WebServer

  init(_ file: URL?) throws {
    var configuration = Configuration()
    configuration.readonly = true
    let pool = try DatabasePool(path: file?.path ?? "", configuration: configuration)
    web = try WebServer { router in
      router.get("orders") { _, _ in
        let bytes = try await pool.read { database in
          var rows: [Row] = []
          let cursor = try GRDB.Row.fetchCursor(
            database, sql: "SELECT id, customer, title, price, note, _stamp FROM \"Order\" WHERE customer = 1")
          while let row = try cursor.next() {
            rows.append(Row(id: row[0], customer: row[1], title: row[2], price: row[3], note: row[4], stamp: row[5]))
          }
          return try JSONEncoder().encode(rows)
        }
        return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
      }
    }
  }

  func catchUp(_ watch: Stopwatch, _ count: Int) throws -> Double {
    let folder = try Folder()
    let pool = try DatabasePool(path: folder.url.appending(path: "device").path)
    try pool.write { database in
      try database.execute(
        sql: """
          CREATE TABLE "Order" (id INTEGER PRIMARY KEY NOT NULL, customer INTEGER NOT NULL, title TEXT NOT NULL, \
          price REAL NOT NULL, note TEXT NOT NULL, _stamp REAL NOT NULL);
          CREATE INDEX customers ON "Order" (customer);
          """)
    }
    let url = web.url.appending(path: "orders")
    let time = try watch.nanoseconds {
      let data = try blocking { try await URLSession.shared.data(from: url).0 }
      let rows = try JSONDecoder().decode([Row].self, from: data)
      try pool.write { database in
        let statement = try database.makeStatement(
          sql: """
            INSERT INTO "Order" (id, customer, title, price, note, _stamp) VALUES (?, ?, ?, ?, ?, ?) \
            ON CONFLICT (id) DO UPDATE SET customer = excluded.customer, title = excluded.title, \
            price = excluded.price, note = excluded.note, _stamp = excluded._stamp
            """)
        for row in rows {
          try statement.setArguments([row.id, row.customer, row.title, row.price, row.note, row.stamp])
          try statement.execute()
        }
      }
    }
    let found = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \"Order\"") }
    try expect(found, is: count, "the rows of the client")
    try pool.close()
    return time
  }
}
