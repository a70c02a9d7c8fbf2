#if Inspector
  /// The page: one file, which loads nothing.
  ///
  /// Whatever it shows of the store it sets as the text of an element, so that no value is taken for HTML.
  enum InspectorPage {
    static func html(nonce: String) -> String {
      """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>Concord Inspector</title>
      <link rel="icon" href="data:,">
      <style nonce="\(nonce)">
      \(style)
      </style>
      </head>
      <body>
      \(body)
      <script nonce="\(nonce)">
      "use strict";
      \(scripts.joined(separator: "\n"))
      start();
      </script>
      </body>
      </html>
      """
    }

    private static var scripts: [String] {
      [tools, graphScript, entityScript, transactionScript, otherScript, mainScript]
    }

    private static let body = #"""
      <header>
        <h1>Concord <small>Inspector</small></h1>
        <nav role="tablist" aria-label="Views" id="tabs"></nav>
        <p id="state" role="status"></p>
      </header>
      <div id="travel" role="group" aria-label="Time travel">
        <button id="earlier" aria-label="One transaction earlier" title="One transaction earlier  [">&#9664;</button>
        <input id="time" type="range" aria-label="The state after a transaction">
        <button id="later" aria-label="One transaction later" title="One transaction later  ]">&#9654;</button>
        <output id="moment" for="time"></output>
        <button id="now" title="Back to the present  0">Now</button>
      </div>
      <main id="view"></main>
      <p id="problem" role="alert" hidden></p>
      <svg id="drawing" hidden></svg>
      """#
  }
#endif
