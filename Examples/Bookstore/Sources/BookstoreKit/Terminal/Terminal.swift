import Foundation
import Synchronization

/// The person's terminal: taken over by ``enter()``, given back as it was by ``leave()``, both from any thread and as
/// often as one likes.
final class Terminal: Sendable {
  private struct State {
    var saved: termios?
    var isEntered = false
  }

  private let output: Int32
  /// Where keys come from: the terminal itself, because standard input may carry events.
  let keyboard: Int32
  let colours: Bool
  private let state = Mutex(State())

  init(output: Int32 = STDOUT_FILENO) {
    self.output = output
    let terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC)
    keyboard = terminal >= 0 ? terminal : STDIN_FILENO
    colours = ProcessInfo.processInfo.environment["NO_COLOR"]?.isEmpty ?? true
  }

  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Keys come one by one and unechoed, and the screens are drawn beside what was there, which comes back at the end.
  func enter() {
    state.withLock { state in
      guard !state.isEntered else { return }
      state.isEntered = true
      var settings = termios()
      if tcgetattr(keyboard, &settings) == 0 {
        state.saved = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(keyboard, TCSAFLUSH, &settings)
      }
      send("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
    }
  }

  func leave() {
    state.withLock { state in
      guard state.isEntered else { return }
      state.isEntered = false
      // First what cannot be held up by a terminal that takes no output.
      if var saved = state.saved { tcsetattr(keyboard, TCSANOW, &saved) }
      send("\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l")
    }
  }

  /// Writes `text`, unless the terminal has been given back.
  func write(_ text: String) {
    state.withLock { state in
      if state.isEntered { send(text) }
    }
  }

  private func send(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Foundation.write(output, $0.baseAddress, $0.count) }
      if count > 0 { bytes = bytes.dropFirst(count) } else if errno != EINTR && errno != EAGAIN { return }
    }
  }
}
