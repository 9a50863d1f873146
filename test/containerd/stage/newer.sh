#!/usr/bin/env bash
# newer.sh [FOLDER [SUITE]]: unpacks the containerd of another Debian suite (trixie unless given) into a folder, beside that of
# the machine and without touching what is installed. Prints the path for CONTAINERD. The folder is one of this user's own in
# the folder for temporary files unless given; what is there is not fetched again, and several may ask for it at the same time.
set -euo pipefail
suite=${2:-trixie}
folder=${1:-${TMPDIR:-/tmp}/rx-kubelet-containerd-$EUID-$suite}
exec "$(dirname "${BASH_SOURCE[0]}")/../../support/unpack-package.sh" "$suite" containerd usr/bin/containerd "$folder"
