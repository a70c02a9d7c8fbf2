# shellcheck shell=bash
# Commands that end with the script that runs them.

child_process=

# run COMMAND…: runs a command without input, and returns its status. The shell hears signals meanwhile, which it does not while a
# command runs in front of it.
run() {
  local status=0
  "$@" < /dev/null &
  child_process=$!
  wait "$child_process" || status=$?
  child_process=
  return "$status"
}

# end_child: ends the command that runs.
end_child() {
  if [ -z "$child_process" ]; then return; fi
  kill "$child_process" 2> /dev/null || true
  wait "$child_process" 2> /dev/null || true
  child_process=
}
