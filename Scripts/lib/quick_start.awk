# Writes README's quick start as two programs, each in a main.swift: its Swift blocks as they stand there, and the same
# with the models of the block after "<!-- snippets: ByHand -->" in place of those made by macros. The claims, as
# snippets.awk explains them, go beside each, in order.
#
# Variables: folder (where to write).

function claim(line,   at, claims, i, n) {
  at = index(line, "// → ")
  if (!at) return
  n = split(substr(line, at + length("// → ")), claims, " → ")
  for (i = 1; i <= n; i++) expected = expected claims[i] "\n"
}

function write(program, text,   target) {
  target = folder "/Sources/" program
  system("mkdir -p '" target "'")
  printf "%s", text > (target "/main.swift")
  printf "%s", expected > (target "/expected")
  print program
}

/^## / { part = $0 == "## Quick start" ? "macros" : "" }
/^<!-- snippets: ByHand -->/ && part { part = "hand" }
/^<!-- hidden/ { part = part == "hand" ? "" : part }
/^```swift/ && part { inside = 1; next }
/^```/ { inside = 0; next }
!inside { next }

part == "hand" { models = models $0 "\n"; next }
{
  pasted = pasted $0 "\n"
  claim($0)
  if (/^import /) next
  if (/^@Entity/) model = 1
  if (!model) statements = statements $0 "\n"
  if (/^}/) model = 0
}

END {
  if (pasted == "" || models == "" || expected == "") {
    print "README has no quick start, or none by hand" > "/dev/stderr"
    exit 1
  }
  write("QuickStartPasted", pasted)
  write("QuickStartPastedByHand", models statements)
}
