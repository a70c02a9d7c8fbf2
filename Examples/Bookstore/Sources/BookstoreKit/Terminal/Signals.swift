import Foundation
import Synchronization

/// The write end of the pipe that signals go through. A signal handler can reach nothing but a global.
private let signalPipe = Atomic<Int32>(-1)

/// Gives the terminal back before a signal ends or stops the program, and takes it again when the program goes on.
///
/// The handler itself only writes the signal's number to a pipe; a thread does the rest, where every call is allowed.
enum Signals {
  private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  /// `redraw` is called on another thread when the window's size changed or the terminal was taken again.
  static func install(for terminal: Terminal, redraw: @escaping @Sendable () -> Void) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    signalPipe.store(ends[1], ordering: .sequentiallyConsistent)
    let reading = ends[0]
    let thread = Thread { serve(reading, terminal, redraw) }
    thread.name = "signals"
    thread.start()
    for number in ending + [SIGTSTP, SIGCONT, SIGWINCH] { signal(number, handler) }
  }

  private static let handler: @convention(c) (Int32) -> Void = { number in
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(signalPipe.load(ordering: .sequentiallyConsistent), &byte, 1)
    errno = saved
  }

  private static func serve(_ pipe: Int32, _ terminal: Terminal, _ redraw: @Sendable () -> Void) {
    var byte: UInt8 = 0
    while true {
      let count = read(pipe, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1 else { return }
      let number = Int32(byte)
      if ending.contains(number) {
        // A terminal that takes no output must not keep the program from ending.
        alarm(2)
        terminal.leave()
        // Ends as it would have without us, so that a shell sees what happened.
        signal(number, SIG_DFL)
        kill(getpid(), number)
      } else if number == SIGTSTP {
        terminal.leave()
        kill(getpid(), SIGSTOP)
      } else if number == SIGCONT {
        terminal.enter()
        redraw()
      } else {
        redraw()
      }
    }
  }
}
