/// Where one can go from any screen. It holds ids: the screens get the newest values from the store.
enum Place: Hashable {
  case book(Book.ID)
  case author(Author.ID)
}
