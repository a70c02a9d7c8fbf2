#if Inspector
  import Concord
  import ConcordInspector
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// What the page asks, and what it is answered: a real request to a real server.
  struct Client: Sendable {
    let url: URL

    struct Answer {
      let status: Int
      let data: Data
      let headers: [AnyHashable: Any]

      var text: String { String(decoding: data, as: UTF8.self) }
      var json: JSON { JSON((try? JSONSerialization.jsonObject(with: data)) as Any) }
    }

    func get(_ path: String, _ parameters: [String: String] = [:]) async throws -> Answer {
      var components = URLComponents()
      components.queryItems = parameters.map { URLQueryItem(name: $0, value: $1) }
      let query = components.percentEncodedQuery.map { "?\($0.replacingOccurrences(of: "+", with: "%2B"))" } ?? ""
      guard let address = URL(string: url.absoluteString + path + query) else { throw URLError(.badURL) }
      return try await send(URLRequest(url: address))
    }

    func post(_ path: String, _ body: String, type: String = "application/json", headers: [String: String] = [:])
      async throws -> Answer
    {
      guard let address = URL(string: url.absoluteString + path) else { throw URLError(.badURL) }
      var request = URLRequest(url: address)
      request.httpMethod = "POST"
      request.httpBody = Data(body.utf8)
      request.setValue(type, forHTTPHeaderField: "Content-Type")
      for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
      return try await send(request)
    }

    func send(_ request: URLRequest) async throws -> Answer {
      let (data, response) = try await URLSession.shared.data(for: request)
      guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
      return Answer(status: response.statusCode, data: data, headers: response.allHeaderFields)
    }

    // MARK: What the page shows

    func overview() async throws -> JSON { try await get("api/overview").json }

    func key(_ name: String) async throws -> String {
      try await overview()["types"].list.first { $0["name"].text == name }?["key"].text ?? ""
    }

    func entities(_ type: String, _ parameters: [String: String] = [:]) async throws -> JSON {
      let key = try await key(type)
      return try await get("api/entities", parameters.merging(["type": key]) { $1 }).json
    }

    func entity(_ type: String, _ id: String, _ parameters: [String: String] = [:]) async throws -> JSON {
      let key = try await key(type)
      return try await get("api/entity", parameters.merging(["type": key, "id": id]) { $1 }).json
    }

    func neighbours(_ type: String, _ id: String, _ side: String, _ offset: Int = 0) async throws -> JSON {
      let key = try await key(type)
      return try await get(
        "api/neighbours", ["type": key, "id": id, "side": side, "offset": "\(offset)", "limit": "200"]
      ).json
    }

    /// Asks for what keeps an entity, as the page does, until all places in the code are known.
    func keepers(_ type: String, _ id: String) async throws -> JSON {
      let key = try await key(type)
      return try await resolved("api/entity", ["type": key, "id": id])["keepers"]
    }

    func transactions() async throws -> [JSON] { try await resolved("api/transactions")["items"].list }

    func transaction(_ number: Int) async throws -> JSON {
      try await resolved("api/transaction", ["number": "\(number)"])
    }

    /// Asks, as the page does, until all places in the code are known.
    private func resolved(_ path: String, _ parameters: [String: String] = [:]) async throws -> JSON {
      while true {
        let answer = try await get(path, parameters).json
        if !answer["isResolving"].bool { return answer }
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  /// A part of a JSON text.
  struct JSON {
    private let value: Any

    init(_ value: Any) { self.value = value }

    subscript(name: String) -> JSON { JSON((value as? [String: Any])?[name] as Any) }
    subscript(index: Int) -> JSON {
      let all = list
      return all.indices.contains(index) ? all[index] : JSON(NSNull())
    }
    var list: [JSON] { (value as? [Any])?.map { JSON($0) } ?? [] }
    var text: String? { value as? String }
    var int: Int? { (value as? NSNumber)?.intValue }
    var number: Double? { (value as? NSNumber)?.doubleValue }
    var bool: Bool { (value as? NSNumber)?.boolValue ?? false }
  }

  /// Serves an inspector of a store for as long as a test needs it.
  func inspecting(
    _ store: EntityStore, showing parts: any Inspectable..., body: (Client, Inspector) async throws -> Void
  ) async throws {
    let inspector: Inspector
    switch parts.count {
    case 0: inspector = try await store.inspect()
    case 1: inspector = try await store.inspect(showing: parts[0])
    default: inspector = try await store.inspect(showing: parts[0], parts[1])
    }
    do { try await body(Client(url: inspector.url), inspector) } catch {
      await inspector.stop()
      throw error
    }
    await inspector.stop()
  }
#endif
