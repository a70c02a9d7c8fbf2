# Writes the files that an article shows into a folder, each as it is printed, and what its reader types on a terminal.
#
#   <!-- file: PATH -->   the next block is this file, or its next part. The line before it names the file, for the reader
#   ```console            a block of commands, each after "$ ", and of the lines that they print
#
# The commands go into files by their numbers, 01.command and so on, and what each prints into 01.printed.
#
# Variables: folder (where the files go), session (the folder of the commands).

function problem(what) {
  print FILENAME ":" FNR ": " what > "/dev/stderr"
  failed = 1
  exit 1
}

# Empties a file, and makes its folder.
function begin(file,   parent) {
  parent = file
  sub(/\/[^\/]*$/, "", parent)
  system("mkdir -p '" parent "'")
  printf "" > file
  close(file)
}

/^<!-- file: / && !inside {
  path = $3
  if (!index(text, "`" path "`")) problem("the line before does not tell the reader that this is " path)
  next
}
/^```swift/ && !inside && path {
  inside = folder "/" path
  if (parts[inside]++) print "" >> inside
  else begin(inside)
  path = ""
  next
}
/^```console/ && !inside { inside = "console"; next }
/^```/ && inside { inside = ""; next }
/^```/ { inside = "other"; next }
inside == "console" && /^\$ / {
  command = session "/" sprintf("%02d", ++commands)
  begin(command ".command")
  begin(command ".printed")
  print substr($0, 3) >> (command ".command")
  next
}
inside == "console" { print >> (command ".printed"); next }
inside == "other" { next }
inside { print >> inside; next }
/[^ ]/ {
  if (path) problem("a block is missing, of " path)
  text = $0
}

END {
  if (!failed && !commands) problem("nothing is typed")
}
