#if Server && os(Linux)
  import Foundation

  /// The notices of a device's screen, with what it may show.
  struct Screen {
    let states: ScreenStates
    let carts: [ShownCarts]
    let books: [ShownBooks]
    /// Whether it has shown actions that waited.
    let hasShownActions: Bool

    /// - Parameter folder: the device's folder, with what its process has noted.
    init(_ moments: [DeviceMoment], in folder: URL) throws {
      states = ScreenStates(moments)
      carts = try FaultRound.lines(folder.appending(path: "screen"))
      books = try FaultRound.lines(folder.appending(path: "screen-books"))
      let shown = Set(carts)
      hasShownActions = zip(moments, states.carts).contains { moment, state in
        shown.contains(state) && state != LayeredRows(moment, isLayered: false).shownCarts
      }
    }

    var violations: [String] {
      ScreenStates.violations(carts, of: states.carts) + ScreenStates.violations(books, of: states.books)
    }
  }
#endif
