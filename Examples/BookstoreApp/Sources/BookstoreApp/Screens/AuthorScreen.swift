#if canImport(SwiftUI)
  import ConcordMacros
  import SwiftUI

  /// An author and her books: an entity that may be missing, and all of a type with a condition.
  struct AuthorScreen: View {
    @State private var author: ObservedValue<Author?>
    @State private var books: ObservedValue<[Book]>
    @State private var name = ""
    private let shop: Shop
    private let id: Author.ID

    init(shop: Shop, id: Author.ID) {
      self.shop = shop
      self.id = id
      _author = State(initialValue: shop.store.observer(Author.self, id: id).observed)
      _books = State(initialValue: shop.store.observer(all: Book.self) { $0.author.id == id }.observed)
    }

    var body: some View {
      List {
        Section("Name") {
          TextField("Name", text: $name)
            .onSubmit { shop.store.update(Author.self, id: id) { $0.name = name } }
        }
        Section("Books") {
          ForEach(books.value.sorted { $0.title < $1.title }) { book in
            NavigationLink(book.title, value: Place.book(book.id))
          }
        }
      }
      .navigationTitle(author.value?.name ?? "Nobody")
      .onAppear { name = author.value?.name ?? "" }
    }
  }
#endif
