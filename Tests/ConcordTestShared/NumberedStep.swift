public import ConcordPersistence

/// The steps of a process that undoes them, one after the other. What is stored tells how many of them are done, and whether that is whole.
public enum NumberedStep {
  /// Makes a step after all those with smaller numbers: it changes, inserts and deletes.
  public static func make(_ number: Int, in view: ViewContext) throws {
    view.insert(Entry(id: -1, text: "\(number)"))
    view.insert(Entry(id: number, text: "\(number)"))
    if number > 3 { try view.delete(Entry.self, id: number - 3) }
    view.insert(Progress(id: 0, last: number))
  }

  /// What is stored when so many of them are done, in the order of ids.
  public static func entries(after number: Int) -> [Entry] {
    if number == 0 { return [] }
    return [Entry(id: -1, text: "\(number)")] + (max(1, number - 2)...number).map { Entry(id: $0, text: "\($0)") }
  }
}
