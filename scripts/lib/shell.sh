# What every script here starts with: where the checkout is, how to speak, how to become root.
# Sourced, never run. Changes to the root of the checkout, so that a script may be started from
# anywhere.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$checkout"

say() { printf '%s\n' "${0##*/}: $*" >&2; }

# die MESSAGE [HINT]: an operator's error is a lower-case message and what to do about it.
die() {
  say "$1"
  [ $# -lt 2 ] || printf 'HINT: %s\n' "$2" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "need root to run: $*" "run this script as root, or install sudo"
  fi
}

# debian_version: 12, 13, ... of this machine; 0 when it is not Debian.
debian_version() (
  ID='' VERSION_ID=0
  . /etc/os-release
  if [ "$ID" = debian ]; then echo "${VERSION_ID:-99}"; else echo 0; fi
)
