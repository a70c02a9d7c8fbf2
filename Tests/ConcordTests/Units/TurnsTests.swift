import Testing

@testable import Concord

@Suite("Whose turn it is to write")
struct TurnsTests {
  @Test("While nothing is open, everybody may write and sees all")
  func closed() {
    let turns = Turns()
    #expect(!turns.isOpen)
    for (thread, token) in [(1, 0), (0, 0), (2, 5)] as [(UInt, UInt64)] {
      #expect(turns.mayWrite(thread, token: token) && turns.sees(thread, token: token))
    }
  }

  @Test("While a transaction is open, its thread may write and sees it, and whoever has its store; nobody else")
  func open() {
    var turns = Turns()
    turns.open(1, token: 5)
    #expect(turns.isOpen)
    #expect(turns.mayWrite(1, token: 0) && turns.sees(1, token: 0))
    #expect(turns.mayWrite(2, token: 5) && turns.sees(2, token: 5))
    #expect(!turns.mayWrite(2, token: 0) && !turns.sees(2, token: 0))
    #expect(!turns.mayWrite(2, token: 4) && !turns.sees(2, token: 4))
    // On the transaction's thread it does not matter which store is used.
    #expect(turns.mayWrite(1, token: 4) && turns.sees(1, token: 4))
    turns.close()
    #expect(!turns.isOpen && turns.mayWrite(2, token: 0) && turns.sees(2, token: 0))
  }

  @Test("A frame without a token is entered by its thread alone: having none is not having the same")
  func withoutToken() {
    var turns = Turns()
    turns.open(1, token: 0)
    #expect(turns.mayWrite(1, token: 0) && !turns.mayWrite(2, token: 0) && !turns.sees(2, token: 0))
    #expect(!turns.mayWrite(2, token: 7))
  }

  @Test("Only the innermost frame may write, but all that is open is seen by whoever belongs to any")
  func nested() {
    var turns = Turns()
    turns.open(1, token: 5)
    // Somebody with the outer's store opens one on another thread.
    turns.open(2, token: 6)
    #expect(turns.mayWrite(2, token: 0) && turns.mayWrite(3, token: 6))
    #expect(!turns.mayWrite(1, token: 0) && !turns.mayWrite(1, token: 5) && !turns.mayWrite(3, token: 5))
    for (thread, token) in [(1, 0), (2, 0), (3, 5), (3, 6)] as [(UInt, UInt64)] {
      #expect(turns.sees(thread, token: token))
    }
    #expect(!turns.sees(3, token: 0) && !turns.sees(3, token: 7))
    turns.close()
    #expect(turns.isOpen && turns.mayWrite(1, token: 0) && turns.mayWrite(3, token: 5))
    #expect(!turns.mayWrite(2, token: 6) && !turns.sees(2, token: 6))
  }

  @Test("A closure of the same thread inside the transaction keeps out whoever has the outer store")
  func closureInside() {
    var turns = Turns()
    turns.open(1, token: 5)
    turns.open(1, token: 0)
    #expect(turns.mayWrite(1, token: 0) && turns.mayWrite(1, token: 5))
    #expect(!turns.mayWrite(2, token: 5) && turns.sees(2, token: 5))
    turns.close()
    #expect(turns.mayWrite(2, token: 5))
  }

  @Test("Frames close in the reverse order, however deep, and closing once too often is nothing")
  func deep() {
    var turns = Turns()
    for i in 1...100 { turns.open(UInt(i), token: UInt64(i)) }
    for i in (1...100).reversed() {
      #expect(turns.mayWrite(UInt(i), token: 0) && (i == 1 || !turns.mayWrite(UInt(i - 1), token: 0)))
      #expect(turns.sees(1, token: 0) && !turns.sees(UInt(i + 1), token: UInt64(i + 1)))
      turns.close()
    }
    turns.close()
    #expect(!turns.isOpen && turns.mayWrite(9, token: 0))
  }
}
