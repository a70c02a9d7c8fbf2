# Turns the Swift blocks of a Markdown document into programs, one for each part of the document.
#
# A block stands between "```swift" and "```" at the start of a line. Blocks that follow each other belong together: what
# one declares, the next ones may use. Declarations go to file scope, and all else, in order, into a function that is run.
# Five comments, which a reader of the rendered page does not see, steer this:
#
#   <!-- snippets: Name -->     what follows is a program of its own, and knows nothing of what was declared before;
#                               <!-- snippets: Name plain --> is one of plain Swift, without an import
#   <!-- hidden                 the lines up to "-->" are compiled as if they stood in a block
#   <!-- manifest -->           the next block is a Package.swift
#   <!-- from: FILE -->         the next block stands in that file of the repository, where it is compiled
#   <!-- file: PATH -->         the next block is this file of the reader's; walk_through.awk has these
#
# A program imports what its blocks show, as it does where a reader pastes them into a file of their own, and nothing else. So its
# first block shows an import, of the package if a later one does, and hidden lines import nothing. The blocks are also written as
# they stand, in their order, as the main.swift of a program.
#
# A line that ends in "// → text" claims that it prints this text (several: "// → one → two"). The claims are written
# beside the program, for the caller to compare with what it prints.
#
# Variables: folder (where to write), name (of the first part), root (of the repository, with a slash).

# The place of a line of the document, for people.
function place(line) {
  return substr(FILENAME, length(root) + 1) ":" line
}

function problem(line, what) {
  print place(line) ": " what > "/dev/stderr"
  failed = 1
}

function begin(part) {
  program = part
  order[++count] = program
  depth = 0
  declaring = 0
}

function claim(line,   at, claims, i, n) {
  at = index(line, "// → ")
  if (!at) return
  n = split(substr(line, at + length("// → ")), claims, " → ")
  for (i = 1; i <= n; i++) expected[program] = expected[program] claims[i] "\n"
}

# What a line opens and does not close, outside of string literals.
function opened(line,   bare, i, c, sum) {
  bare = line
  gsub(/\\"/, "", bare)
  gsub(/"[^"]*"/, "", bare)
  sub(/\/\/.*/, "", bare)
  sum = 0
  for (i = 1; i <= length(bare); i++) {
    c = substr(bare, i, 1)
    if (c == "{" || c == "(" || c == "[") sum++
    if (c == "}" || c == ")" || c == "]") sum--
  }
  return sum
}

function code(line) {
  if (depth == 0) {
    if (line ~ /^import /) {
      if (inside == 2) problem(FNR, "a reader does not see this import; show it in a block")
      else if (line ~ /^import Concord/ && !imported[program]) imported[program] = blocks[program]
      imports[program] = imports[program] line "\n"
      return
    }
    after_attribute = attribute
    bare = line
    while (sub(/^(public|package|private|fileprivate|final|indirect|nonisolated|@[A-Za-z]+(\([^)]*\))?) */, "", bare)) {}
    if (bare ~ /^(struct|enum|class|actor|protocol|extension|typealias) / || (line ~ /^@/ && bare == "")) declaring = 1
    else if (!attribute) declaring = 0
    attribute = line ~ /^@/ && bare == ""
  }
  # Errors are reported in the document. Within an expression the compiler takes no such line.
  where = depth == 0 && !after_attribute && line ~ /^[^ )}\]]/ ? "#sourceLocation(file: \"" FILENAME "\", line: " FNR ")\n" : ""
  depth += opened(line)
  pasted[program] = pasted[program] where line "\n"
  if (declaring) declarations[program] = declarations[program] where line "\n"
  else statements[program] = statements[program] where "  " line "\n"
  claim(line)
}

BEGIN { begin(name) }

/^<!-- snippets: / && !inside { begin(name $3); plain[program] = $4 == "plain"; next }
/^<!-- manifest -->/ && !inside { manifest_next = 1; next }
/^<!-- file: / && !inside { file_next = 1; next }
/^```swift/ && !inside && file_next { inside = 5; file_next = 0; next }
inside == 5 { if (/^```/) inside = 0; next }
/^<!-- from: / && !inside { excerpt = folder "/excerpts/" name sprintf("%02d", ++excerpts); from = $3; next }
/^```swift/ && !inside && excerpt {
  inside = 4
  system("mkdir -p '" folder "/excerpts'")
  print from > excerpt
  print place(FNR) > excerpt
  next
}
inside == 4 && /^```/ { close(excerpt); excerpt = ""; inside = 0; next }
inside == 4 { print > excerpt; next }
/^<!-- hidden/ && !inside { inside = 2; next }
/^```swift/ && !inside {
  inside = manifest_next ? 3 : 1
  manifest_next = 0
  if (inside == 1 && !blocks[program]++) first[program] = FNR
  next
}
(inside == 1 || inside == 3) && /^```/ { inside = 0; next }
inside == 2 && /^-->/ { inside = 0; next }
inside == 3 { manifest = manifest $0 "\n"; next }
inside { code($0) }

END {
  for (i = 1; i <= count; i++) {
    program = order[i]
    if (declarations[program] statements[program] == "") continue
    if (first[program] && imports[program] == "" && !plain[program]) {
      problem(first[program], "these blocks show no import, and nothing else is imported")
    }
    if (imported[program] > 1) problem(first[program], "a later block imports the package, and this one uses it")
    target = folder "/Sources/" program
    system("mkdir -p '" target "'")
    file = target "/" program ".swift"
    # A closing directive wants an opening one before it, also where the document has no declaration or no statement.
    start = "#sourceLocation(file: \"" FILENAME "\", line: 1)\n"
    printf "%s\n%s%s\n#sourceLocation()\n\n", imports[program], start, declarations[program] > file
    printf "func snippets() async throws {\n%s%s#sourceLocation()\n", start, statements[program] > file
    # While what the blocks have declared is there: subscriptions that go are told nothing more.
    printf "  await delivered()\n}\n" > file
    close(file)
    # What runs it stands in a file of its own, so that its imports are not those of the program.
    runner = target "/Runner.swift"
    printf "import Dispatch\n\n" > runner
    printf "@main enum Program {\n  static func main() async throws { try await snippets() }\n}\n\n" > runner
    printf "// Stores that deliver on the main queue are done once a call queued after theirs has run.\n" > runner
    printf "func delivered() async {\n  await withCheckedContinuation { done in" > runner
    printf " DispatchQueue.main.async { done.resume() } }\n}\n" > runner
    close(runner)
    # The blocks in their order, as a reader pastes them into a main.swift.
    script = folder "/pasted/" program "/main.swift"
    system("mkdir -p '" folder "/pasted/" program "'")
    printf "%s\n%s", imports[program], pasted[program] > script
    close(script)
    printf "%s", expected[program] > (target "/expected")
    close(target "/expected")
    print program
  }
  if (manifest != "") {
    system("mkdir -p '" folder "/manifests/" name "'")
    printf "%s", manifest > (folder "/manifests/" name "/Package.swift")
  }
  if (failed) exit 1
}
