#if Inspector
  import FlyingFox
  import Foundation

  /// The answers to requests that have passed the gate.
  struct InspectorRoutes: Sendable {
    private let reader: StoreReader
    private let gate: InspectorGate

    init(_ reader: StoreReader, _ gate: InspectorGate) { (self.reader, self.gate) = (reader, gate) }

    func response(to request: HTTPRequest) async -> HTTPResponse {
      let (path, refusal) = gate.path(of: request)
      if let refusal { return HTTPResponse(statusCode: refusal, headers: Self.headers) }
      do {
        return request.method == .GET ? try await get(path, request) : try await post(path, request)
      } catch let problem as Problem {
        return text(problem.status, problem.text)
      } catch {
        return text(.badRequest, "the request cannot be read")
      }
    }

    private func get(_ path: String, _ request: HTTPRequest) async throws -> HTTPResponse {
      let query = RequestQuery(request)
      switch path {
      case "/":
        return HTTPResponse(
          statusCode: .permanentRedirect, headers: Self.headers.adding(.location, "/\(gate.token)/"))
      case "": return page()
      case "api/overview": return json(reader.overview(at: try at(query)))
      case "api/entities":
        let list = reader.entities(
          of: try query.text("type"), search: query.optional("search") ?? "", offset: try query.number("offset", 0),
          limit: min(200, try query.number("limit", 100)), at: try at(query))
        return try json(list, orMissing: "no such type is known")
      case "api/entity":
        let entity = reader.entity(
          of: try query.text("type"), id: try query.text("id"), hash: query.optional("hash"), at: try at(query))
        return try json(entity, orMissing: "no such entity is known")
      case "api/neighbours":
        guard let side = InspectedSide(rawValue: try query.text("side")) else {
          throw Problem(.badRequest, "side is neither parents nor children")
        }
        let list = reader.neighbours(
          of: try query.text("type"), id: try query.text("id"), hash: query.optional("hash"), side: side,
          offset: try query.number("offset", 0), limit: min(200, try query.number("limit", 100)))
        return try json(list, orMissing: "no such entity is stored")
      case "api/transactions":
        let before = query.optional("before") == nil ? nil : try query.number("before", 0)
        return json(reader.transactions(before: before, limit: min(200, try query.number("limit", 100))))
      case "api/transaction":
        return try json(reader.transaction(try query.number("number", 0)), orMissing: "the transaction is not kept")
      case "api/queries": return json(reader.queries())
      case "api/part":
        return try json(await reader.part(try query.number("number", 0)), orMissing: "there is no such part")
      default: throw Problem(.notFound, "there is nothing here")
      }
    }

    /// The state that is asked for.
    private func at(_ query: RequestQuery) throws -> Int? {
      guard query.optional("at") != nil else { return nil }
      let number = try query.number("at", 0)
      guard reader.isKnown(number) else {
        throw Problem(.gone, "the state after transaction \(number) is not known any longer")
      }
      return number
    }

    private func post(_ path: String, _ request: HTTPRequest) async throws -> HTTPResponse {
      let body = try await request.bodyData
      switch path {
      case "api/recording":
        reader.recorder.recordsEverything = try JSONDecoder().decode(RecordingCommand.self, from: body).everything
        return json(reader.overview(at: nil))
      case "api/perform":
        let command = try JSONDecoder().decode(PartCommand.self, from: body)
        guard reader.parts.indices.contains(command.part) else { throw Problem(.notFound, "there is no such part") }
        guard await reader.parts[command.part].perform(command.action, command.row) else {
          throw Problem(.conflict, "that is not possible any longer")
        }
        return try json(await reader.part(command.part), orMissing: "there is no such part")
      default: throw Problem(.notFound, "there is nothing here")
      }
    }

    private struct RecordingCommand: Decodable { let everything: Bool }
    private struct PartCommand: Decodable {
      let part: Int
      let action: String
      let row: String
    }

    // MARK: Answers

    /// Nothing is loaded from elsewhere, no other page shows this one, and nothing that is shown runs.
    private func page() -> HTTPResponse {
      let nonce = UUID().uuidString
      let policy = """
        default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; connect-src 'self'; img-src data:; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
      let headers = Self.headers.adding(.contentType, "text/html; charset=utf-8")
        .adding(HTTPHeader("Content-Security-Policy"), policy)
      return HTTPResponse(statusCode: .ok, headers: headers, body: Data(InspectorPage.html(nonce: nonce).utf8))
    }

    private func json(_ value: some Encodable) -> HTTPResponse {
      let encoder = JSONEncoder()
      // Otherwise their order differs each time, and the page takes each answer for a new one.
      encoder.outputFormatting = .sortedKeys
      guard let data = try? encoder.encode(value) else {
        return text(.internalServerError, "the answer cannot be written")
      }
      return HTTPResponse(
        statusCode: .ok, headers: Self.headers.adding(.contentType, "application/json; charset=utf-8"), body: data)
    }

    private func json(_ value: (some Encodable)?, orMissing text: String) throws -> HTTPResponse {
      guard let value else { throw Problem(.notFound, text) }
      return json(value)
    }

    private func text(_ status: HTTPStatusCode, _ text: String) -> HTTPResponse {
      HTTPResponse(
        statusCode: status, headers: Self.headers.adding(.contentType, "text/plain; charset=utf-8"),
        body: Data(text.utf8))
    }

    private static let headers: HTTPHeaders = [
      .cacheControl: "no-store", HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
      HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin", HTTPHeader("Referrer-Policy"): "no-referrer",
      HTTPHeader("X-Content-Type-Options"): "nosniff",
    ]
  }

  extension HTTPHeaders {
    fileprivate func adding(_ header: HTTPHeader, _ value: String) -> HTTPHeaders {
      var headers = self
      headers[header] = value
      return headers
    }
  }

  /// A request that is answered with a status, and a text for people.
  private struct Problem: Error {
    let status: HTTPStatusCode
    let text: String

    init(_ status: HTTPStatusCode, _ text: String) { (self.status, self.text) = (status, text) }
  }

  /// The parameters of a request.
  private struct RequestQuery {
    private let request: HTTPRequest

    init(_ request: HTTPRequest) { self.request = request }

    func optional(_ name: String) -> String? { request.query.first { $0.name == name }?.value }

    func text(_ name: String) throws -> String {
      guard let text = optional(name) else { throw Problem(.badRequest, "\(name) is missing") }
      return text
    }

    /// A number that is not negative.
    func number(_ name: String, _ usual: Int) throws -> Int {
      guard let text = optional(name) else { return usual }
      guard let number = Int(text), number >= 0 else { throw Problem(.badRequest, "\(name) is no number") }
      return number
    }
  }
#endif
