# shellcheck shell=bash
# Proves that the demo leaves nothing running when it is ended.

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

# processes_of FOLDER: prints how many processes of the example were started with a folder.
processes_of() { pgrep -f "bookstore.*$1" | wc -l | tr -d ' '; }
