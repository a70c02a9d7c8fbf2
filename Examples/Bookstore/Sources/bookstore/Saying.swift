import ArgumentParser
import BookstoreKit
import Foundation

/// Prints a line at once, so that whoever reads it may rely on it even if the process ends the next moment.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

func complain(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data("bookstore: \(text)\n".utf8)) }

/// Opens a catalogue; ends the program with a message when it cannot be had.
func openCatalogue(_ path: String?) throws -> Catalogue {
  do {
    return try Catalogue.open(path)
  } catch {
    complain("\(error)")
    switch error {
    case .malformed: throw ExitCode(65)
    case .unreadable: throw ExitCode(66)
    }
  }
}
