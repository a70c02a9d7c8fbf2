#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordConnect
  @testable import ConcordPersistence
  @testable import ConcordSync

  /// Tests of devices with two stores: one has carts, the outbox and the notes, the other one has the books.
  protocol DevicesWithTwoStores {}

  extension DevicesWithTwoStores {
    func model() throws -> Model {
      try Model(
        "Shop", entities: [Book.self, Line.self, Cart.self, Label.self],
        configurations: ["carts": [Line.self, Cart.self, Label.self], "books": [Book.self]])
    }

    /// - Parameters:
    ///   - names: the names of the two files.
    ///   - user: the user.
    ///   - isReversed: whether the one of the books is attached first.
    ///   - through: a closure that receives each store, and returns the one that is attached; `nil` for the store itself.
    func device(
      _ world: World, _ names: (String, String) = ("carts", "books"), user: Int = 1, books: StoreType = .sqlite,
      isReversed: Bool = false, network: Network = Network(), through: ((any RowStore) -> any RowStore)? = nil
    ) async throws -> Device {
      try await world.device("a", user: user, network: network, model: model()) { connect in
        let files = [(names.0, "carts", StoreType.sqlite), (names.1, "books", books)]
        for (file, name, type) in isReversed ? files.reversed() : files {
          let configuration = StoreConfiguration(fileName: file, name: name, type: type)
          if let through {
            try connect.attach(at: world.folder, for: configuration, through: through)
          } else {
            try connect.attachPersistentStore(at: world.folder, for: configuration)
          }
        }
      }
    }

    /// Detaches a store of a device that has the names of files as ``device(_:_:user:books:isReversed:network:through:)`` gives them.
    func detach(_ name: String, from device: Device) throws {
      let store = device.connect.persistentStores.first { $0.configurationName == name }
      try device.connect.detach(persistentStore: try #require(store))
    }

    func attach(_ name: String, to device: Device, _ world: World) throws {
      try device.connect.attachPersistentStore(at: world.folder, for: StoreConfiguration(fileName: name, name: name))
    }

    /// Counts the rows of the pages that a device gets.
    func countRows(of device: Device, in count: Kept<Int>) {
      device.route { request, transport in
        let response = try await transport.send(request)
        if request.isForPages, let page = try? Page(parsing: response.body, shopModel()) {
          count.withLock { $0 += page.rows.count }
        }
        return response
      }
    }
  }
#endif
