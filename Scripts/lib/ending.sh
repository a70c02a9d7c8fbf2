# shellcheck shell=bash
# Proves that the demo leaves nothing running when it is ended, and that a PostgreSQL server ends with what started it.

# check_ending FOLDER [--fleet]: starts the demo with its data in a folder, ends it by SIGTERM, and looks for what still runs. Its screens on a
# terminal are the program itself, in place of the script. One of two customers' pages is killed before, and has to come back.
check_ending() {
  local folder=$1 form=${2:-} demo status=0 seconds=0 place
  # What an earlier demo said in this folder is not this one's word: the background truncates the file when it gets to it.
  : > "$folder/said"
  # No browser is opened without a screen.
  env -u DISPLAY -u WAYLAND_DISPLAY "$root/Scripts/demo" ${form:+"$form"} --store "$folder" > "$folder/said" 2>&1 < /dev/null &
  demo=$!
  until grep -q -i 'control-C ends all' "$folder/said"; do
    if ! kill -0 "$demo" 2> /dev/null || [ "$seconds" -ge 300 ]; then
      kill "$demo" 2> /dev/null || true
      fail "the demo${form:+ $form} did not show its pages:
$(cat "$folder/said")"
    fi
    sleep 1
    seconds=$((seconds + 1))
  done
  # Pages have the folder among their options, and servers, too, or the address of the database that is in it.
  place=$(sed -n 's/^ *PostgreSQL  *//p' "$folder/said")
  if [ "$(processes_of "$folder")" -lt 2 ] || [ "$(processes_of "${place:-$folder}")" -lt 2 ]; then
    fail "no servers and no pages run during the demo${form:+ $form}"
  fi
  # A fleet's pages are started by another program.
  if [ -z "$form" ]; then check_page_returns "$folder"; fi
  kill -TERM "$demo"
  wait "$demo" || status=$?
  if [ "$status" -ne 143 ]; then fail "the demo${form:+ $form} ended with status $status after SIGTERM"; fi
  if [ "$(processes_of "$folder")" -gt 0 ] || [ "$(processes_of "${place:-$folder}")" -gt 0 ] ||
    [ -e "$folder/database/data/postmaster.pid" ]; then
    fail "the demo${form:+ $form} left processes running when it was ended by SIGTERM"
  fi
}

# check_page_returns FOLDER: kills the first page of a demo with its data in a folder, as the button on it does, and waits until another process
# serves it at the same address.
check_page_returns() {
  local killed page port seconds=0
  killed=$(pgrep -f "bookstore page .*$1/customer") || fail 'the demo has no first page'
  port=$(sed -n 's|^each for itself: http://[^ ]*:\([0-9]*\)[^0-9 ]* .*|\1|p' "$1/said")
  kill -KILL "$killed"
  until page=$(pgrep -f "bookstore page .*$1/customer") && [ "$page" != "$killed" ] &&
    (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do
    if [ "$seconds" -ge 60 ]; then fail "the demo does not start a page again that was killed (port $port):
$(cat "$1/said")"; fi
    sleep 1
    seconds=$((seconds + 1))
  done
}

# check_all_ends: all of this, in a folder of its own.
check_all_ends() {
  local folder
  folder=$(mktemp -d)
  check_ending "$folder"
  if have_postgresql_server && have_command python3; then
    check_server_ends "$folder"
    rm -rf "$folder/database"
    if have_libpq; then check_ending "$folder" --fleet; fi
  fi
  rm -rf "$folder"
}

# check_server_ends FOLDER: starts a PostgreSQL server in a folder as the demo and the tests of the example do, kills what has started it,
# and waits for the end of the server.
check_server_ends() {
  local starter seconds=0
  # The server runs as another user where this script runs as root.
  chmod 755 "$1"
  : > "$1/postgresql-said"
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

# processes_of TEXT: prints how many processes of the example were started with a text among their options.
processes_of() { pgrep -f "bookstore.*$1" | wc -l | tr -d ' '; }
