# shellcheck shell=bash
# What a fresh machine needs before it can build: a Swift toolchain, git, and the C libraries it links with.

# The oldest toolchain that reads Package.swift (its swift-tools-version).
minimum_swift=6.2

# set_up: installs what is missing where it may, and otherwise ends with the command to type.
set_up() {
  ensure git have_command git -- git git
  if [ "$(uname -s)" = Linux ]; then
    ensure "the C library's headers" have_c_headers -- libc6-dev ''
    ensure "the C++ library" have_cxx_library -- libstdc++-12-dev ''
    # Stores in files need it. Apple's systems have it in their kits.
    ensure "SQLite's headers" have_sqlite_headers -- libsqlite3-dev ''
  fi
  ensure_swift
}

have_command() { command -v "$1" > /dev/null 2>&1; }

have_c_headers() { [ -e /usr/include/stdlib.h ]; }

# The library that the linker takes comes with them.
have_sqlite_headers() { have_header sqlite3.h; }

have_header() {
  local found
  for found in "/usr/include/$1" "/usr/local/include/$1" /usr/include/*/"$1"; do
    if [ -e "$found" ]; then return 0; fi
  done
  return 1
}

have_cxx_library() {
  local found
  for found in /usr/lib/gcc/*/*/libstdc++.so /usr/lib*/libstdc++.so* /usr/lib/*/libstdc++.so*; do
    if [ -e "$found" ]; then return 0; fi
  done
  return 1
}

# set_up_server: installs what the trait Server needs beside a toolchain: zlib, which Apple's systems have.
set_up_server() {
  if [ "$(uname -s)" = Linux ]; then ensure "zlib's headers" have_zlib_headers -- zlib1g-dev ''; fi
}

have_zlib_headers() { have_header zlib.h; }

# set_up_postgresql: installs what the tests of stores in PostgreSQL need where it may, and says in one line what is missing otherwise.
set_up_postgresql() {
  if have_libpq && have_postgresql_server; then return; fi
  if have_command apt-get && { [ "$(id -u)" = 0 ] || { have_command sudo && sudo -n true 2> /dev/null; }; }; then
    # A server that the system starts is not needed: the tests start their own.
    (install_with_apt 'PostgreSQL' libpq-dev && install_with_apt 'PostgreSQL' pkg-config &&
      install_with_apt 'PostgreSQL' postgresql) 2> /dev/null || true
  fi
  if have_libpq && have_postgresql_server; then return; fi
  note 'PostgreSQL is missing, so stores in it are left out (sudo apt-get install -y libpq-dev pkg-config postgresql; brew install libpq pkgconf postgresql@17)'
}

# set_up_nginx: installs the reverse proxy that a test runs in continuous integration, and says elsewhere what is left out without it: its package may
# start a server that listens on all interfaces.
set_up_nginx() {
  if [ "$(uname -s)" != Linux ] || have_nginx; then return; fi
  if [ -n "${CI:-}" ] && have_command apt-get; then (install_with_apt nginx nginx) 2> /dev/null || true; fi
  if have_nginx; then return; fi
  note 'nginx is not installed, so synchronisation through a reverse proxy is not tested (Debian: apt-get install nginx)'
}

# Where the test looks for it, too.
have_nginx() { (PATH=$PATH:/usr/sbin:/usr/local/sbin && have_command nginx); }

# set_up_fleet: installs what a fleet needs, or ends with the command to type.
set_up_fleet() {
  ensure pkg-config have_command pkg-config -- pkg-config pkgconf
  ensure "PostgreSQL's C library" have_libpq -- libpq-dev libpq
  ensure PostgreSQL have_postgresql_server -- postgresql postgresql@17
  ensure Python have_command python3 -- python3 python3
}

# Where the package manager finds libpq: by pkg-config, and in Homebrew's folders.
have_libpq() {
  pkg-config --exists libpq 2> /dev/null ||
    { have_command brew && [ -e "$(brew --prefix)/opt/libpq/lib/pkgconfig/libpq.pc" ]; }
}

have_postgresql_server() {
  local found
  if have_command initdb && have_command pg_ctl && have_command psql; then return 0; fi
  for found in /usr/lib/postgresql/*/bin/initdb /opt/homebrew/opt/postgresql@*/bin/initdb /usr/local/opt/postgresql@*/bin/initdb; do
    if [ -x "$found" ]; then return 0; fi
  done
  return 1
}

# ensure NAME CHECK… -- APT_PACKAGE BREW_PACKAGE: runs CHECK, and installs the package when it fails.
ensure() {
  local name=$1 check=()
  shift
  while [ "$1" != -- ]; do
    check+=("$1")
    shift
  done
  local apt_package=$2 brew_package=$3
  if "${check[@]}"; then return; fi
  note "$name is missing"
  if have_command apt-get && [ -n "$apt_package" ]; then
    install_with_apt "$name" "$apt_package"
  elif have_command brew && [ -n "$brew_package" ]; then
    note "brew install $brew_package"
    brew install "$brew_package" || fail "could not install $name; try: brew install $brew_package"
  else
    fail "$name is missing; install it with this system's package manager (Debian and Ubuntu: sudo apt-get install -y \
$apt_package${brew_package:+; macOS: brew install $brew_package})"
  fi
  "${check[@]}" || fail "$name was installed, but is still not found"
}

install_with_apt() {
  local name=$1 package=$2 sudo=()
  if [ "$(id -u)" != 0 ]; then
    # Without a password at hand a script must not stop to ask for one.
    if have_command sudo && sudo -n true 2> /dev/null; then
      sudo=(sudo -n)
    else
      fail "$name is missing; install it with: sudo apt-get update && sudo apt-get install -y $package"
    fi
  fi
  note "apt-get install $package"
  # bash 3.2 takes an empty array for an unset variable, hence the guard.
  ${sudo[@]+"${sudo[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package" > /dev/null 2>&1 ||
    { ${sudo[@]+"${sudo[@]}"} apt-get update -qq &&
      ${sudo[@]+"${sudo[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package" > /dev/null; } ||
    fail "could not install $name; try: sudo apt-get update && sudo apt-get install -y $package"
}

ensure_swift() {
  if ! have_command swift; then
    fail "no Swift toolchain found. Concord needs Swift $minimum_swift or newer.
  macOS:   install Xcode 26 or newer from the App Store, or see https://www.swift.org/install/macos
  Linux:   curl -O https://download.swift.org/swiftly/linux/swiftly-\$(uname -m).tar.gz &&
           tar zxf swiftly-\$(uname -m).tar.gz && ./swiftly init
           (details: https://www.swift.org/install/linux)
  Docker:  docker run --rm -it -v \"\$PWD\":/concord -w /concord swift:$minimum_swift ./Scripts/demo" 69
  fi
  local version
  version=$(swift --version 2> /dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1)
  if [ -z "$version" ]; then fail "'swift --version' says nothing useful; is the toolchain whole?" 69; fi
  if ! version_at_least "$version" "$minimum_swift"; then
    fail "Concord needs Swift $minimum_swift or newer, and this is $version. See https://www.swift.org/install" 69
  fi
  note "Swift $version, $(uname -s) $(uname -m)"
}

# version_at_least VERSION MINIMUM: compares major and minor.
version_at_least() {
  local major=${1%%.*} rest=${1#*.} minimum_major=${2%%.*} minimum_minor=${2#*.}
  local minor=${rest%%.*}
  [ "$major" -gt "$minimum_major" ] || { [ "$major" -eq "$minimum_major" ] && [ "$minor" -ge "$minimum_minor" ]; }
}
