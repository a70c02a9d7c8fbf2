# shellcheck shell=bash
# Does what the article "Every device" tells its reader to do: from an empty folder to two devices and a server.

walk_folder=.build/every-device
# What is built is there.
walk_options=(--scratch-path "$root/$server_package/.build" --skip-build)
walk_server=

# check_every_device: writes the files that the article shows as they are printed, types its commands, and compares what they print with what it
# says. Only where the package is, and the port, are others. After finish_building_server, whose modules are built already.
check_every_device() {
  local article=Sources/ConcordServer/ConcordServer.docc/EveryDevice.md session=$root/$walk_folder-session command
  rm -rf "$walk_folder" "$session"
  awk -v folder="$walk_folder" -v session="$session" -f Scripts/lib/walk_through.awk "$article" || fail "$article cannot be followed"
  settle_walk
  for command in "$session"/*.command; do
    note "\$ $(cat "$command")"
    type_command "$(cat "$command")" "${command%.command}"
  done
  end_walk_server
}

# settle_walk: writes where the package of this repository is into the manifest, with the traits that it has been built with, and a free port into
# the programs.
settle_walk() {
  local manifest=$walk_folder/Package.swift package port file
  package=".package(name: \"concord\", path: \"$root\", traits: $(server_traits))"
  replace_text "$manifest" '\.package(path: "\.\./concord", traits: [^)]*)' "$package"
  if ! grep -q -F "$package" "$manifest"; then fail "the manifest of the article does not name this package as it used to"; fi
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  for file in "$walk_folder"/Sources/*/main.swift; do replace_text "$file" 8080 "$port"; done
  share_versions "$walk_folder" "$server_package"
}

# replace_text FILE PATTERN TEXT
replace_text() {
  sed "s|$2|$3|" "$1" > "$1.new"
  mv "$1.new" "$1"
}

# type_command COMMAND NAME: does what a line of the article does. NAME.printed has what it is to print.
type_command() {
  local words
  read -r -a words <<< "$1"
  case $1 in
    'swift build')
      logged "$2.log" swift_build_server --package-path "$walk_folder" || fail 'the files of the article do not build'
      if grep -q "$walk_folder/.*\.swift:[0-9]*:[0-9]*: warning:" "$2.log"; then fail 'the files of the article build with warnings'; fi
      ;;
    'swift run WishServer') start_walk_server "$2.log" ;;
    'swift run '*)
      (cd "$walk_folder" && limited 2 swift run "${walk_options[@]}" "${words[@]:2}") < /dev/null > "$2.output" 2> "$2.log" || {
        cat "$2.log"
        fail "'$1' has failed"
      }
      diff "$2.printed" "$2.output" || fail "'$1' prints something else than the article says (< says, > prints)"
      ;;
    *) fail "the article says '$1', and the test does not know how to do that" ;;
  esac
}

# start_walk_server LOG: returns when the server says that it listens.
start_walk_server() {
  local seconds=0
  # A group of its own, so that it can be ended with whatever has started it.
  set -m
  (cd "$walk_folder" && exec swift run "${walk_options[@]}" WishServer) < /dev/null > "$1" 2>&1 &
  set +m
  walk_server=$!
  backgrounds+=("$walk_server")
  trap end_background EXIT
  until grep -q 'listening on' "$1"; do
    if ! kill -0 "$walk_server" 2> /dev/null || [ "$seconds" -ge 60 ]; then
      cat "$1"
      fail 'the server of the article does not listen'
    fi
    sleep 1
    seconds=$((seconds + 1))
  done
}

# end_walk_server: as one ends a server, and it has to end well.
end_walk_server() {
  local status=0
  if [ -z "$walk_server" ]; then fail 'the article starts no server'; fi
  kill -TERM "$walk_server"
  wait "$walk_server" || status=$?
  if [ "$status" -ne 0 ]; then fail "the server of the article ended with status $status"; fi
}
