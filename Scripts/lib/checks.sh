# shellcheck shell=bash
# The single checks of Scripts/test. Each runs in the package's folder and ends the script when it fails.

# check_format: every Swift file of the repository, outside of build folders.
check_format() {
  local places=() place
  for place in Package.swift Sources Tests Examples Benchmarks; do
    if [ -e "$place" ]; then places+=("$place"); fi
  done
  find "${places[@]}" \( -name '.build*' -o -name '.swiftpm' \) -prune -o -name '*.swift' -print0 |
    xargs -0 swift format lint --strict --parallel ||
    fail "the format differs from .swift-format; 'swift format --in-place FILE' mends most of it"
}

# check_scripts: where shellcheck is installed.
check_scripts() {
  if have_command shellcheck; then
    # What a file of Scripts/lib uses may be assigned by another one, or by the script that reads both.
    shellcheck -x --exclude=SC2154 .ci/run Scripts/demo Scripts/test Scripts/bench Scripts/docs Scripts/faults \
      Scripts/lib/*.sh || fail 'shellcheck complains'
  else
    note 'shellcheck is not installed, so the scripts are not checked'
  fi
}

# check_setup: that a machine without PostgreSQL is told so in one line: what is left out, and what to install.
check_setup() {
  local said
  # Nothing is found on this path, libpq neither.
  # shellcheck disable=SC2123 # On purpose, in a shell of its own.
  said=$(PATH=/nowhere && set_up_postgresql)
  case $said in
    *$'\n'* | '') fail "a machine without PostgreSQL is told: '$said'" ;;
    *'left out'*'apt-get install -y libpq-dev pkg-config postgresql'*) ;;
    *) fail "a machine without PostgreSQL is told: '$said'" ;;
  esac
}

# check_house: that each folder uses only the folders below it, but for the uses that house.txt lists.
check_house() {
  ensure 'Python 3' have_command python3 -- python3 python3
  python3 -B Scripts/lib/house.py || fail 'a folder uses what is above it; move it, or invert it (see Layout in CONTRIBUTING.md)'
}

# check_comments: that the comments of symbols begin with a noun or a verb, as far as that can be told from their first words, and that
# comments and articles name those whom they would call "others".
check_comments() {
  ensure 'Python 3' have_command python3 -- python3 python3
  python3 -B Scripts/lib/openings.py || fail 'a comment begins like a question, or needs its neighbour (see Style in CONTRIBUTING.md)'
  python3 -B Scripts/lib/wording.py || fail 'a comment or an article says "others" where it has to name who is meant (see Style in CONTRIBUTING.md)'
}

# build_without_warnings PACKAGE OPTION…: builds, and fails on a warning in a file of this repository.
build_without_warnings() {
  local package=$1 log warned
  shift
  mkdir -p .build
  log=.build/build.log
  swift_build --package-path "$package" "$@" 2>&1 | tee "$log" || fail "$package does not build"
  warned=$(grep -E '\.swift:[0-9]+:[0-9]+: warning:' "$log" | grep -v -E '/\.build[^/]*/(checkouts|.*\.derived)/' |
    sed -E 's/:[0-9]+:[0-9]+: warning:.*//' | sort -u || true)
  if [ -n "$warned" ]; then
    # A file that is not compiled again does not warn again, so the next run must find these changed.
    printf '%s\n' "$warned" | while IFS= read -r file; do if [ -e "$file" ]; then touch "$file"; fi; done
    fail "$package builds with warnings, in:
$warned"
  fi
}

# limited MINUTES COMMAND…: ends a command that takes longer, since a test that waits for ever says nothing.
limited() {
  local minutes=$1 status=0
  shift
  if ! have_command timeout; then
    "$@"
    return
  fi
  timeout --foreground "${minutes}m" "$@" || status=$?
  if [ "$status" -eq 124 ]; then fail "'$*' has not ended within $minutes minutes: a test waits for ever" 124; fi
  return "$status"
}

# logged FILE COMMAND…: runs a command, and keeps what it says in a file, too.
logged() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname "$log")"
  "$@" 2>&1 | tee "$log" || status=$?
  return "$status"
}

# list_failures FILE: says which of the tests failed whose run is kept in the file, and why: among thousands one is not found.
list_failures() {
  printf '\n%sThese tests failed:%s\n' "$red" "$plain"
  # An issue's lines of explanation follow it; at most 20 of each.
  awk '/^(✘|x|\[.*\]) .*(recorded an issue|failed after)|error: -\[/ { print; left = 20; next }
    /^[◇✔✘↳]/ && !/^↳/ { left = 0 }
    left > 0 { print; left-- }' "$1"
  # A test that crashes says nothing: it is the last that began.
  if ! grep -q '^✘ Test run' "$1"; then
    note "the run did not end; the last lines:"
    tail -n 20 "$1"
  fi
}

# name_failures COMMAND…: runs tests, and lists at the end those that failed.
name_failures() {
  local status=0 log=.build/tests.log
  logged "$log" "$@" || status=$?
  if [ "$status" -ne 0 ]; then list_failures "$log"; fi
  return "$status"
}

# await_beginning LOG PROCESS: waits until the tests of a process have begun: two that look at one build at the same moment may find it locked.
await_beginning() {
  local _
  for _ in $(seq 240); do
    if grep -q -s 'Test run started' "$1" || ! kill -0 "$2" 2> /dev/null; then return; fi
    sleep 0.25
  done
}

# in_three_processes COMMAND…: runs the tests of the package with three processes, since most of them wait most of the time, above all those
# of a database. What the others print comes when the first has ended, and the failures of all at the very end, where a reader looks first.
in_three_processes() {
  local stores='^ConcordPersistenceTests\.' connections='^Concord(Connect|PostgreSQL)Tests\.'
  local part status=0
  local parts=(stores connections engine) processes=() failed=()
  for part in "${parts[@]}"; do rm -f ".build/tests-$part.log"; done
  logged .build/tests-connections.log "$@" --ignore-lock --filter "$connections" > /dev/null &
  processes+=($!)
  await_beginning .build/tests-connections.log "${processes[0]}"
  logged .build/tests-engine.log "$@" --ignore-lock --skip "$stores|$connections" > /dev/null &
  processes+=($!)
  await_beginning .build/tests-engine.log "${processes[1]}"
  logged .build/tests-stores.log "$@" --ignore-lock --filter "$stores" || failed+=(stores)
  wait "${processes[0]}" || failed+=(connections)
  wait "${processes[1]}" || failed+=(engine)
  for part in "${parts[@]:1}"; do cat ".build/tests-$part.log"; done
  for part in ${failed[@]+"${failed[@]}"}; do
    list_failures ".build/tests-$part.log"
    status=1
  done
  return "$status"
}

run_under_thread_sanitizer() {
  # The thread sanitizer wants its shadow memory at fixed addresses, which random layouts with many bits may take.
  local without_random_layout=()
  if have_command setarch && setarch "$(uname -m)" -R true 2> /dev/null; then
    without_random_layout=(setarch "$(uname -m)" -R)
  fi
  local suppressions=$root/Scripts/lib/thread-sanitizer.suppressions
  TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:suppressions=$suppressions${TSAN_OPTIONS:+:$TSAN_OPTIONS}" \
    name_failures ${without_random_layout[@]+"${without_random_layout[@]}"} \
    swift test --sanitize=thread --scratch-path .build-tsan --traits Persistence --no-parallel ||
    fail 'the thread sanitizer found something'
}

run_under_address_sanitizer() {
  # Leaks are the business of the heap tests: the sanitizer also counts what the runtime keeps on purpose.
  # The linker's remarks on the sanitizer's own symbols are many, and mean nothing.
  ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" \
    swift test --sanitize=address --scratch-path .build-asan --traits Persistence --no-parallel 2>&1 |
    grep -v 'Cannot export local symbol' || fail 'the address sanitizer found something'
}
