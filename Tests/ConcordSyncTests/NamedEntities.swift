#if Server
  import ConcordServer
  import Foundation

  /// What an action names, as its JSON tells: the actions of the tests name a cart, a book, or both. It shares no code with the actions.
  struct NamedEntities: Decodable {
    var cart: Int64?
    var book: Int64?

    /// - Parameter body: the JSON of an action that waits.
    init(_ body: String) {
      self = (try? JSONDecoder().decode(Self.self, from: Data(body.utf8))) ?? NamedEntities(cart: nil, book: nil)
    }

    private init(cart: Int64?, book: Int64?) { (self.cart, self.book) = (cart, book) }

    private var ids: [(entity: String, id: Int64)] {
      [("Cart", cart), ("Book", book)].compactMap { name, id in id.map { (name, $0) } }
    }

    /// The entities, as "Cart 1".
    var names: [String] { ids.map { "\($0.entity) \($0.id)" } }

    func keys(in model: Model) -> [EntityKey] {
      ids.compactMap { name, id in model.entity(named: name).map { EntityKey($0, .integer(id)) } }
    }
  }
#endif
