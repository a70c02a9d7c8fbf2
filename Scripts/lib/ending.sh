# shellcheck shell=bash
# Proves that the demo leaves nothing running when it is ended, and that a PostgreSQL server ends with what started it.

# check_ending FOLDER: starts the demo with its data in a folder, ends it by SIGTERM, and looks for what still runs.
check_ending() {
  local demo status=0 seconds=0
  # No browser is opened without a screen.
  env -u DISPLAY -u WAYLAND_DISPLAY "$root/Scripts/demo" --store "$1" > "$1/said" 2>&1 < /dev/null &
  demo=$!
  until grep -q '^[^a-z]*open http' "$1/said"; do
    if ! kill -0 "$demo" 2> /dev/null || [ "$seconds" -ge 300 ]; then
      kill "$demo" 2> /dev/null || true
      fail "the demo did not show its page:
$(cat "$1/said")"
    fi
    sleep 1
    seconds=$((seconds + 1))
  done
  if [ "$(processes_of "$1")" -lt 2 ]; then fail 'no server and no page run during the demo'; fi
  kill -TERM "$demo"
  wait "$demo" || status=$?
  if [ "$status" -ne 143 ]; then fail "the demo ended with status $status after SIGTERM"; fi
  if [ "$(processes_of "$1")" -gt 0 ]; then fail 'the demo left processes running when it was ended by SIGTERM'; fi
}

# check_server_ends FOLDER: starts a PostgreSQL server in a folder as the demo and the tests of the example do, kills what has started it,
# and waits for the end of the server.
check_server_ends() {
  local starter seconds=0
  # The server runs as another user where this script runs as root.
  chmod 755 "$1"
  # shellcheck disable=SC2016 # The inner shell expands it.
  python3 -B "$root/Scripts/lib/postgresql.py" "$1/database" URL sh -c 'echo "$URL"; sleep 20' > "$1/postgresql-said" 2>&1 < /dev/null &
  starter=$!
  until grep -q '^postgresql:' "$1/postgresql-said"; do
    if ! kill -0 "$starter" 2> /dev/null || [ "$seconds" -ge 60 ]; then
      fail "PostgreSQL was not started:
$(cat "$1/postgresql-said")"
    fi
    sleep 1
    seconds=$((seconds + 1))
  done
  kill -KILL "$starter"
  wait "$starter" 2> /dev/null || true
  seconds=0
  while [ -e "$1/database/data/postmaster.pid" ]; do
    if [ "$seconds" -ge 10 ]; then fail 'a PostgreSQL server outlives the process that started it'; fi
    sleep 1
    seconds=$((seconds + 1))
  done
}

# processes_of FOLDER: prints how many processes of the example were started with a folder.
processes_of() { pgrep -f "bookstore.*$1" | wc -l | tr -d ' '; }
