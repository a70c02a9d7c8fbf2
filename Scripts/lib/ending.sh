# shellcheck shell=bash
# Proves that the demo leaves nothing running when it is ended, and that a PostgreSQL server ends with what started it.

# check_ending FOLDER [--fleet]: starts the demo with its data in a folder, ends it by SIGTERM, and looks for what still runs. Its screens on a
# terminal are the program itself, in place of the script.
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
  kill -TERM "$demo"
  wait "$demo" || status=$?
  if [ "$status" -ne 143 ]; then fail "the demo${form:+ $form} ended with status $status after SIGTERM"; fi
  if [ "$(processes_of "$folder")" -gt 0 ] || [ "$(processes_of "${place:-$folder}")" -gt 0 ] ||
    [ -e "$folder/database/data/postmaster.pid" ]; then
    fail "the demo${form:+ $form} left processes running when it was ended by SIGTERM"
  fi
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
