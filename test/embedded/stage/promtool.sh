#!/usr/bin/env bash
# promtool.sh [FOLDER]: unpacks promtool, of the package prometheus of this Debian, without an installation, which would start a server. Prints
# the path for PROMTOOL. The folder is one of this user's own in the folder for temporary files unless given; what is there is not fetched again.
set -euo pipefail
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
folder=${1:-${TMPDIR:-/tmp}/rx-kubelet-promtool-$EUID-$suite}
exec "$(dirname "${BASH_SOURCE[0]}")/../../support/unpack-package.sh" "$suite" prometheus usr/bin/promtool "$folder" usr/bin/promtool
