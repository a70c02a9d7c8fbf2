import ConcordPersistence
import ConcordTestShared

extension ConcordTestProcess {
  /// `words PLACE SEED`: prints `begins`, attaches, and changes memos without end; prints `saved N` when save N is durable.
  static func words(_ place: String, seed: UInt64) throws {
    say("begins")
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Memos", model: try memoModel())
    try container.attachStore(at: place)
    let context = container.newBackgroundContext()
    var random = SeededNumbers(seed: seed)
    var number = 0
    while true {
      number += 1
      for _ in 0..<20 {
        let id = Int.random(in: 0..<400, using: &random)
        if Int.random(in: 0..<6, using: &random) == 0 {
          try context.delete(Memo.self, id: id)
        } else {
          let words = (0..<5).map { _ in "w\(Int.random(in: 0..<50, using: &random))" }
          context.insert(Memo(id: id, text: words.joined(separator: " ")))
        }
      }
      try context.save()
      say("saved \(number)")
    }
  }
}
