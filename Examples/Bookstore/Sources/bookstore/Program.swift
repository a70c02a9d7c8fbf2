import ArgumentParser

/// The commands of the program. They are no subcommands of ``Bookstore``, because options of the same name would go to it.
@main
enum Program {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "serve": await Bookstore.Serve.main(Array(arguments.dropFirst()))
    case "page": await Bookstore.Page.main(Array(arguments.dropFirst()))
    case "device": await Bookstore.Device.main(Array(arguments.dropFirst()))
    case "work": await Bookstore.Work.main(Array(arguments.dropFirst()))
    default: await Bookstore.main(arguments)
    }
  }
}
