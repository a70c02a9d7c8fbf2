/// The end of a task-local value that belongs to a thread.
///
/// A task that is begun meanwhile inherits the value. It may run later, when the value has ended, on a thread with the same name: the same one, or a
/// new one that the system has given the name of one that is gone.
// Unchecked, because the compiler cannot see that threads of one name follow each other.
package final class ThreadValueState: @unchecked Sendable {
  package var isEnded = false

  package init() {}
}
