#if canImport(SwiftUI)
  import ConcordMacros
  import SwiftUI

  /// One book, which may not be there, or be removed while the screen shows it.
  struct BookScreen: View {
    let shop: Shop
    let id: Book.ID
    @State private var present: ObservedValue<Book?>

    init(shop: Shop, id: Book.ID) {
      self.shop = shop
      self.id = id
      _present = State(initialValue: shop.store.observer(Book.self, id: id).observed)
    }

    var body: some View {
      if present.value != nil, let book = shop.store.find(Book.self, id: id) {
        BookEditor(shop: shop, book: book)
      } else {
        Text("This book is not sold any longer.")
      }
    }
  }

  /// Edits a book in the store: each screen that shows it follows the typing.
  private struct BookEditor: View {
    let shop: Shop
    @State private var book: ObservedValue<Book>

    init(shop: Shop, book: EntityObserver<Book>) {
      self.shop = shop
      _book = State(initialValue: book.observed)
    }

    var body: some View {
      @Bindable var book = book
      Form {
        TextField("Title", text: $book.title)
        Stepper("\(book.stock) left", value: $book.stock, in: 0...99)
        NavigationLink(book.author.name, value: Place.author(book.author.id))
        Button("Put on the shelf") { shop.putOnShelf(book.value) }
      }
      .navigationTitle(book.title)
    }
  }
#endif
