#if canImport(SwiftUI)
  import ConcordMacros
  import SwiftUI

  /// The current user's books: an entity that has a name, so that the screen also follows another user.
  struct ShelfScreen: View {
    let shop: Shop
    @State private var user: ObservedValue<User?>

    init(shop: Shop) {
      self.shop = shop
      _user = State(initialValue: shop.store.find(named: .currentUser).observed)
    }

    var body: some View {
      List {
        ForEach(user.value?.shelf ?? []) { book in
          NavigationLink(value: Place.book(book.id)) { Text("\(book.title), by \(book.author.name)") }
        }
        .onDelete { places in
          shop.store.update(named: .currentUser) { $0.shelf.remove(atOffsets: places) }
        }
      }
      .navigationTitle(user.value.map { "\($0.name)’s shelf" } ?? "Signed out")
    }
  }
#endif
