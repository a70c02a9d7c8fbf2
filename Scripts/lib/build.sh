# shellcheck shell=bash
# How all packages of this repository are built: into one folder, so that swift-syntax is compiled once for all of them.

# swift_build OPTION…: builds into .build, whatever the package.
#
# Swift's hashes are made the same in each run of the package manager. It writes the flags of traits in the order of a set,
# so that otherwise every other change of a file list compiles the whole package anew, and so does every other package.
# The tests run without this. The plan of a build is made anew each time: one that is kept may be that of another package.
swift_build() {
  find_postgresql
  SWIFT_DETERMINISTIC_HASHING=1 swift build --scratch-path "$root/.build" --disable-build-manifest-caching \
    ${postgresql_traits[@]+"${postgresql_traits[@]}"} "$@"
}

# Where that is built which needs the trait Server: the tests of synchronisation and the example. Hummingbird is compiled once for both, and
# not at all where only the package is tested. Their traits are the same, and so are the versions of what they depend on.
server_package=.build/server

# swift_build_server OPTION…: builds into that folder.
swift_build_server() {
  SWIFT_DETERMINISTIC_HASHING=1 swift build --scratch-path "$root/$server_package/.build" --disable-build-manifest-caching "$@"
}

# swift_build_example OPTION…: builds the example there.
swift_build_example() {
  find_postgresql
  share_versions "$root/Examples/Bookstore" "$root/$server_package"
  swift_build_server --package-path "$root/Examples/Bookstore" ${postgresql_traits[@]+"${postgresql_traits[@]}"} "$@"
}

# find_postgresql: sets postgresql_traits to the options that add PostgreSQL to a build. All packages of this repository are built
# with it, or none, since a module that is built with other traits is compiled anew.
find_postgresql() {
  postgresql_traits=()
  if have_libpq; then postgresql_traits=(--traits 'default,PostgreSQL'); fi
}

# share_versions FOLDER [OTHER]: makes a package take the same versions as another one, which is this one unless told, of what both depend on.
share_versions() {
  local other=${2:-$root}
  if [ -e "$other/Package.resolved" ] && [ ! -e "$1/Package.resolved" ]; then
    cp "$other/Package.resolved" "$1/Package.resolved"
  fi
}

# The last process that builds in the background, and all of them.
background=
backgrounds=()

# build_in_background LOG COMMAND…: runs a build beside the tests, which go first. It ends with the script at the latest.
build_in_background() {
  local log=$1
  shift
  # A group of its own, so that it can be ended with its compilers.
  set -m
  "$@" > "$log" 2>&1 &
  set +m
  background=$!
  backgrounds+=("$background")
  renice_tree 19 "$background"
  keep_behind "$background" > /dev/null 2>&1 &
  trap end_background EXIT
}

# keep_behind PROCESS: keeps a build behind what else runs, as long as it has the lowest priority itself. Where it may, as root may, the package
# manager gives its compilers the usual one.
keep_behind() {
  while [ "$(ps -o nice= -p "$1" | tr -d ' ')" = 19 ]; do
    renice_tree 19 "$1"
    sleep 2
  done
}

# renice_tree PRIORITY PROCESS: gives a process, and all that it has started, a priority.
renice_tree() {
  local child
  renice -n "$1" -p "$2" > /dev/null 2>&1 || true
  for child in $(pgrep -P "$2" 2> /dev/null); do renice_tree "$1" "$child"; done
}

end_background() {
  local group
  for group in "${backgrounds[@]}"; do kill -- "-$group" 2> /dev/null || true; done
}

# after PROCESS COMMAND…: runs a command when a process has ended.
after() {
  while kill -0 "$1" 2> /dev/null; do sleep 1; done
  shift
  "$@"
}

# finish_building PROCESS LOG WHAT: waits for a build in the background, which goes first from now on.
finish_building() {
  renice_tree 0 "$1"
  if ! wait "$1"; then
    cat "$2"
    fail "$3 do not build"
  fi
}
