import Foundation

/// What a device says and remembers, without a store: the requests of one that waits for changes.
struct LightDevice {
  let name: String
  let publication: String
  /// The customers to whose orders it subscribes, if the publication has that parameter.
  let customers: [Int]
  private(set) var position: String?
  private var conditions: [String] = []

  init(name: String, publication: String, customers: [Int] = []) {
    (self.name, self.publication, self.customers) = (name, publication, customers)
  }

  /// The body of its next request.
  func request(wait: Int) -> String {
    let parameters = customers.isEmpty ? ["{}"] : customers.map { "{\"customer\":\($0)}" }
    let subscriptions = parameters.enumerated().map { index, parameters in
      let known = conditions.indices.contains(index) ? "\"\(conditions[index])\"" : "null"
      return "{\"name\":\"\(publication)\",\"parameters\":\(parameters),\"known\":\(known)}"
    }
    let position = position.map { "\"\($0)\"" } ?? "null"
    return """
      {"version":1,"device":"\(name)","position":\(position),"user":null,"actions":0,"awaited":[],\
      "wait":\(self.position == nil ? 0 : wait),"subscriptions":[\(subscriptions.joined(separator: ","))]}
      """
  }

  private struct Head: Decodable {
    struct Subscription: Decodable { var condition: String }
    var position: String
    var subscriptions: [Subscription]
  }

  /// Remembers the position of a page.
  mutating func take(_ page: some Collection<UInt8>) throws {
    let head = try JSONDecoder().decode(Head.self, from: Data(page.prefix { $0 != 0x0A }))
    (position, conditions) = (head.position, head.subscriptions.map(\.condition))
  }
}
