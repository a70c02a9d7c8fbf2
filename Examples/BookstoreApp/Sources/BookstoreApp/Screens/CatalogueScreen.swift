#if canImport(SwiftUI)
  import ConcordMacros
  import SwiftUI

  /// All books: a collection that has a name.
  struct CatalogueScreen: View {
    let shop: Shop
    @State private var books: ObservedValue<[Book]?>

    init(shop: Shop) {
      self.shop = shop
      _books = State(initialValue: shop.store.find(named: .catalogue).observed)
    }

    var body: some View {
      List(books.value ?? []) { book in
        NavigationLink(value: Place.book(book.id)) {
          VStack(alignment: .leading) {
            Text(book.title)
            Text("\(book.author.name) · \(book.stock) left").font(.caption)
          }
        }
      }
      .navigationTitle("Books")
      .task { try? await shop.refresh() }
      .refreshable { try? await shop.refresh() }
    }
  }
#endif
