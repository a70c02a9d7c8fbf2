# shellcheck shell=bash
# How all packages of this repository are built: into one folder, so that swift-syntax is compiled once for all of them.

# swift_build OPTION…: builds into .build, whatever the package.
#
# Swift's hashes are made the same in each run of the package manager. It writes the flags of traits in the order of a set,
# so that otherwise every other change of a file list compiles the whole package anew, and so does every other package.
# The tests run without this. The plan of a build is made anew each time: one that is kept may be that of another package.
swift_build() {
  find_postgresql
  SWIFT_DETERMINISTIC_HASHING=1 swift build --scratch-path "$root/.build" --disable-build-manifest-caching \
    ${postgresql_traits[@]+"${postgresql_traits[@]}"} "$@"
}

# find_postgresql: sets postgresql_traits to the options that add PostgreSQL to a build. All packages of this repository are built
# with it, or none, since a module that is built with other traits is compiled anew.
find_postgresql() {
  postgresql_traits=()
  if have_libpq; then postgresql_traits=(--traits 'default,PostgreSQL'); fi
}

# share_versions FOLDER: makes a package that depends on this one take the same versions of what both depend on.
share_versions() {
  if [ -e "$root/Package.resolved" ] && [ ! -e "$1/Package.resolved" ]; then
    cp "$root/Package.resolved" "$1/Package.resolved"
  fi
}
