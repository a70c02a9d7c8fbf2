# shellcheck shell=bash
# The Bookstore's server and the page that a customer of it serves.

shop_process=
page_process=

# start_shop PROGRAM OPTION…: starts a server on any port that is free, and sets shop_url. stop_shop ends it.
start_shop() {
  local program=$1 folder said=''
  shift
  folder=$(mktemp -d)
  mkfifo "$folder/said"
  "$program" serve --port 0 "$@" < /dev/null > "$folder/said" &
  shop_process=$!
  IFS= read -r said < "$folder/said" || true
  rm -rf "$folder"
  if [ "${said#listening on }" = "$said" ]; then
    local status=0
    wait "$shop_process" || status=$?
    shop_process=
    fail "the server ended with status $status" "$status"
  fi
  shop_url=${said#listening on }
}

stop_shop() {
  local process
  for process in $page_process $shop_process; do
    kill "$process" 2> /dev/null || true
    wait "$process" 2> /dev/null || true
  done
  page_process=
  shop_process=
}

# show_page PROGRAM OPTION…: runs a customer until she is interrupted, and opens her page.
show_page() {
  local program=$1
  shift
  "$program" page --server "$shop_url" "$@" < /dev/null > >(open_what_it_says) &
  page_process=$!
  # So that this script can be interrupted meanwhile.
  wait "$page_process"
}

open_what_it_says() {
  local line
  while IFS= read -r line; do
    case $line in
      'open '*)
        printf '%sopen %s%s   control-C ends it\n' "$bold" "${line#open }" "$plain"
        open_in_browser "${line#open }"
        ;;
      *) printf '%s\n' "$line" ;;
    esac
  done
}

# open_in_browser URL: where there is a screen, and something to open it with.
open_in_browser() {
  if [ "$(uname -s)" = Darwin ]; then
    open "$1" || true
  elif [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && have_command xdg-open; then
    xdg-open "$1" > /dev/null 2>&1 || true
  fi
}
