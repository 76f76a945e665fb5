#!/usr/bin/env bash
# Installs what the tests need from the operating system, on Debian or Ubuntu, as root: PostgreSQL with pgvector,
# plpgsql_check where it is packaged, PgBouncer, and Chromium. Installed packages stay unchanged: a second run installs nothing.
set -euo pipefail

# The moderators' views need security_invoker, which PostgreSQL 15 introduced.
oldest_version=15

say() { printf 'install-postgres: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

[ "$(id -u)" = 0 ] || fail 'This must run as root.'
command -v apt-get > /dev/null || fail 'This works on Debian and Ubuntu only.'
export DEBIAN_FRONTEND=noninteractive

updated=
update() {
  [ -z "$updated" ] || return 0
  # The machine may be running its own upgrades. Wait for them for up to five minutes.
  apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 update
  updated=yes
}

install() {
  local output
  say "installing $*"
  output=$(apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
    install --yes --no-install-recommends "$@" 2>&1) || fail "$output"
}

packaged() {
  [ -n "$(apt-cache madison "$1" 2> /dev/null)" ]
}

# The newest installed version with a server. Client packages alone also make a folder of programs.
installed_version() {
  local initdb
  for initdb in /usr/lib/postgresql/*/bin/initdb; do
    if [ -x "$initdb" ]; then basename "$(dirname "$(dirname "$initdb")")"; fi
  done | sort -n | tail -n 1
}

# Builds pgvector from the source package of Debian 13, loaded from the mirror that this machine already uses.
build_pgvector() {
  local version=$1 work mirror
  # shellcheck disable=SC2016 # apt fills these in, not the shell.
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(COMPONENT)' 'Created-By: Packages' |
    awk '$2 == "Debian" && $3 == "main" && $1 !~ /security/ { print $1; exit }')
  [ -n "$mirror" ] || fail "There is no package postgresql-$version-pgvector here, and no Debian mirror to take its source from."
  # The keyring of a fresh image can be older than that release.
  install "postgresql-server-dev-$version" build-essential debian-archive-keyring
  work=$(mktemp -d)
  # Separate package lists, so that apt never installs other packages of the newer release.
  mkdir -p "$work/lists/partial"
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s trixie main\n' "$mirror" > "$work/sources.list"
  local elsewhere=(
    -o "Dir::Etc::sourcelist=$work/sources.list"
    -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$work/lists"
    -o "Dir::Cache::srcpkgcache=$work/srcpkgcache.bin"
    -o "Dir::Cache::pkgcache=$work/pkgcache.bin"
    -o APT::Sandbox::User=root
    -o Acquire::Retries=3
  )
  say "building pgvector for PostgreSQL $version"
  apt-get -qq "${elsewhere[@]}" update
  (cd "$work" && apt-get -qq "${elsewhere[@]}" source --download-only pgvector)
  mkdir "$work/pgvector"
  tar --extract --strip-components=1 --directory="$work/pgvector" --file="$(ls "$work"/pgvector_*.orig.tar.*)"
  # Empty OPTFLAGS avoid instructions of this processor, because an image may run on another one.
  make --directory="$work/pgvector" --silent OPTFLAGS= \
    PG_CONFIG="/usr/lib/postgresql/$version/bin/pg_config" install > "$work/log" 2>&1 || {
    cat "$work/log" >&2
    fail 'pgvector did not build.'
  }
  rm -rf "$work"
}

version=$(installed_version)
if [ -z "$version" ]; then
  update
  install postgresql
  version=$(installed_version)
fi
[ "$version" -ge "$oldest_version" ] ||
  fail "PostgreSQL $version is too old: $oldest_version or newer is needed. PostgreSQL's own package repository has newer ones."

extensions=/usr/share/postgresql/$version/extension
if [ ! -e "$extensions/vector.control" ]; then
  update
  if packaged "postgresql-$version-pgvector"; then
    install "postgresql-$version-pgvector"
  else
    build_pgvector "$version"
  fi
fi

if [ ! -e "$extensions/plpgsql_check.control" ]; then
  update
  # plpgsql_check checks our functions statically. Where it is not packaged, the test that uses it says so.
  if packaged "postgresql-$version-plpgsql-check"; then install "postgresql-$version-plpgsql-check"; fi
fi

if [ ! -x /usr/sbin/pgbouncer ]; then
  update
  install pgbouncer
fi

if ! command -v chromium-headless-shell chromium chromium-browser google-chrome-stable google-chrome > /dev/null; then
  update
  # On Ubuntu, the package chromium only installs a snap, which does not work everywhere.
  if packaged chromium-headless-shell; then
    install chromium-headless-shell
  elif packaged chromium; then
    install chromium
  else
    say 'There is no Chromium to install: the browser tests will fail.'
  fi
fi

say "ready: PostgreSQL $version with pgvector"
