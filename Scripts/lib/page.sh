# shellcheck shell=bash
# Drives the example's page, and the inspector of its store, in a browser, where there is one; and the pages of a fleet.

# check_page PROGRAM
check_page() {
  if ! have_command python3; then
    note 'python3 is not installed, so the page is not driven in a browser'
  elif [ -z "$(find_browser)" ]; then
    note 'no Chromium is installed, so the page is not driven in a browser (Debian: apt-get install chromium)'
  else
    note "in $(find_browser)"
    limited 5 python3 -B "$root/Scripts/lib/page.py" "$1" || fail 'the page does not do what it should'
    limited 3 python3 -B "$root/Scripts/lib/inspector.py" "$1" || fail 'the inspector does not do what it should'
  fi
}

# check_fleet PROGRAM: what Scripts/demo --fleet --headless does, where PostgreSQL is installed.
check_fleet() {
  local folder status=0
  if ! have_libpq || ! have_postgresql_server || ! have_command python3; then
    note 'libpq, PostgreSQL or python3 is not installed, so the fleet is left out'
    return
  fi
  folder=$(mktemp -d)
  # PostgreSQL runs as another user where this script runs as root.
  chmod 755 "$folder"
  limited 3 python3 -B "$root/Scripts/lib/fleet.py" "$1" "$folder" --headless || status=$?
  rm -rf "$folder"
  if [ "$status" -ne 0 ]; then fail 'the fleet does not do what it should'; fi
}

find_browser() { PYTHONPATH=$root/Scripts/lib python3 -B -c 'import browser; print(browser.find() or "")'; }
