import Foundation

/// A date of an HTTP field (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`, and the two obsolete forms that every recipient has to
/// take, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
enum HTTPDate {
  /// - Parameter now: the date from which a year of two digits is understood.
  /// - Returns: `nil` if the text has none of the forms, or is no day of the calendar.
  static func date(_ text: String, now: Date = Date()) -> Date? {
    var parts = text.split { " ,-".contains($0) }[...]
    guard parts.popFirst().map({ weekdays.contains($0.prefix(3).lowercased()) }) ?? false else { return nil }
    var components = DateComponents()
    if parts.last?.uppercased() == "GMT" {
      guard parts.count == 5, parts[3].count != 3, let year = number(parts[3], 2...4) else { return nil }
      components.day = number(parts[1], 1...2)
      components.month = month(parts[2])
      components.year = parts[3].count == 2 ? Self.year(ending: year, now) : year
      guard setTime(parts[4], &components) else { return nil }
    } else {
      guard parts.count == 4 else { return nil }
      components.month = month(parts[1])
      components.day = number(parts[2], 1...2)
      components.year = number(parts[4], 4...4)
      guard setTime(parts[3], &components) else { return nil }
    }
    // Else a missing one would be taken for the first.
    guard components.day != nil, components.month != nil, components.year != nil else { return nil }
    // A leap second counts as the one after it.
    let leap = components.second == 60 ? 1 : 0
    components.second = components.second.map { $0 - leap }
    guard components.isValidDate(in: calendar) else { return nil }
    return calendar.date(from: components)?.addingTimeInterval(Double(leap))
  }

  private static let weekdays: Set<String> = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  private static let calendar: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar
  }()

  private static func month(_ text: Substring) -> Int? { months.firstIndex(of: text.lowercased()).map { $0 + 1 } }

  private static func number(_ text: Substring, _ length: ClosedRange<Int>) -> Int? {
    length.contains(text.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }

  private static func setTime(_ text: Substring, _ components: inout DateComponents) -> Bool {
    let numbers = text.split(separator: ":", omittingEmptySubsequences: false).map { number($0, 2...2) }
    guard numbers.count == 3, let hour = numbers[0], let minute = numbers[1], let second = numbers[2] else {
      return false
    }
    (components.hour, components.minute, components.second) = (hour, minute, second)
    return true
  }

  /// The year with these digits that is at most 50 years ahead, and less than 50 years ago.
  private static func year(ending digits: Int, _ now: Date) -> Int {
    let present = calendar.component(.year, from: now)
    let year = present - present % 100 + digits
    if year > present + 50 { return year - 100 }
    return year + 100 <= present + 50 ? year + 100 : year
  }
}
