#if canImport(SwiftUI)
  import SwiftUI

  @main
  struct BookstoreApp: App {
    private let shop = Shop()

    var body: some Scene {
      WindowGroup {
        TabView {
          Tab("Books", systemImage: "books.vertical") { pages(CatalogueScreen(shop: shop)) }
          Tab("Shelf", systemImage: "person") { pages(ShelfScreen(shop: shop)) }
        }
        .task { try? await shop.followSales() }
      }
    }

    private func pages(_ root: some View) -> some View {
      NavigationStack {
        root.navigationDestination(for: Place.self) { place in
          switch place {
          case .book(let id): BookScreen(shop: shop, id: id)
          case .author(let id): AuthorScreen(shop: shop, id: id)
          }
        }
      }
    }
  }
#else
  @main
  enum BookstoreApp {
    static func main() { print("The screens of this example need SwiftUI.") }
  }
#endif
