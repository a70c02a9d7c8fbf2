/// The price and the stock that a book begins with. They are invented, unlike the rest of the catalogue: the same ones
/// for the same id in each run.
struct StartingValues {
  let cents: Int
  let stock: Int

  init(bookID: String) {
    // FNV-1a, because Swift's own hashes differ from run to run.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bookID.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    cents = 499 + Int(hash % 40) * 50
    stock = 1 + Int((hash >> 32) % 30)
  }
}
