# shellcheck shell=bash
# The Bookstore's server and the pages that its customers' devices serve.

shop_process=
# By the numbers of the pages.
page_processes=()
page_urls=()
page_commands=()

# start_shop PROGRAM OPTION…: starts a server on any port that is free, and sets shop_url. stop_shop ends it.
start_shop() {
  local program=$1
  shift
  start_and_hear 'listening on' "$program" serve --port 0 "$@"
  shop_process=$heard_process
  shop_url=$heard
}

# start_page NUMBER PROGRAM OPTION…: starts a device of a customer, and its page.
start_page() {
  local number=$1 program=$2
  shift 2
  start_and_hear open "$program" page --server "$shop_url" "$@"
  page_processes[number]=$heard_process
  page_urls[number]=$heard
  # It is started again like this.
  local port=${heard##*:}
  page_commands[number]=$(printf '%q ' "$program" page --server "$shop_url" "$@" --port "${port%/}")
}

# start_and_hear WORDS COMMAND…: starts a program in the background, which prints the words and a URL. Sets heard and heard_process.
start_and_hear() {
  local words=$1 folder said=''
  shift
  folder=$(mktemp -d)
  mkfifo "$folder/said"
  "$@" < /dev/null > "$folder/said" &
  heard_process=$!
  IFS= read -r said < "$folder/said" || true
  rm -rf "$folder"
  if [ "${said#"$words "}" = "$said" ]; then
    local status=0
    wait "$heard_process" || status=$?
    fail "'${*:2:1}' ended with status $status" "$status"
  fi
  heard=${said#"$words "}
}

stop_shop() {
  local process
  for process in ${page_processes[@]+"${page_processes[@]}"} $shop_process; do
    kill "$process" 2> /dev/null || true
    wait "$process" 2> /dev/null || true
  done
  page_processes=()
  shop_process=
}

# show_pages: opens a page that shows both, and starts again each whose button killed it, until one ends by itself or this script does.
show_pages() {
  local both=${page_urls[1]}/both number status
  printf '%sopen %s%s   two customers side by side; control-C ends all\n' "$bold" "$both" "$plain"
  printf 'each for itself: %s %s\n' "${page_urls[@]}"
  printf 'what is going on inside: %s %s\n' "${page_urls[@]/%//inspector}"
  open_in_browser "$both"
  while true; do
    for number in "${!page_processes[@]}"; do
      if kill -0 "${page_processes[number]}" 2> /dev/null; then continue; fi
      status=0
      wait "${page_processes[number]}" || status=$?
      if [ "$status" -ne 137 ]; then fail "a page ended with status $status" "$status"; fi
      # shellcheck disable=SC2086 # They are quoted already.
      eval "start_and_hear open ${page_commands[number]}"
      page_processes[number]=$heard_process
    done
    # So that this script can be interrupted meanwhile.
    sleep 1 &
    wait $!
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
