#!/usr/bin/env bash
# node.sh: prints the versions of Node that the check tries beside that of the machine, a line each, the newest last.
# node.sh VERSION [FOLDER]: installs that version by the npm package `node`, and prints the folder of its program, for the PATH. The folder is one of
# this user's own in the folder for temporary files unless given; what is there is not fetched again, and several may ask for it at the same time.
set -euo pipefail
# The newest ones of the lines that get security fixes.
versions=(22.23.3 24.21.0 26.10.0)
if [[ $# -eq 0 ]]; then
  printf '%s\n' "${versions[@]}"
  exit 0
fi
version=$1 folder=$(realpath -m "${2:-${TMPDIR:-/tmp}/rx-kubelet-node-$EUID-$1}")
program=$folder/node_modules/node/bin/node

# Nobody else may put there what is run later.
(umask 077 && mkdir -p "$folder")
[[ -O $folder ]] || { echo "$folder belongs to somebody else" >&2 && exit 1; }
exec 9<"$folder"
flock --timeout 300 9 || { echo "$folder is in use" >&2 && exit 1; }
if [[ $("$program" --version 2>/dev/null) != "v$version" ]]; then
  # An interrupted installation must not count as a whole one, and no package.json above this folder.
  rm -rf "$folder/node_modules" "$folder/package-lock.json"
  echo '{ "private": true }' >"$folder/package.json"
  npm install --prefix "$folder" --no-audit --no-fund --save-exact "node@$version" >&2
  # Its script brings the program; an npm that runs no scripts by itself leaves that to us.
  [[ -x $program ]] || (cd "$folder/node_modules/node" && node installArchSpecificPackage.js >&2)
  [[ $("$program" --version) == "v$version" ]] || { echo "node $version does not run" >&2 && exit 1; }
fi
dirname "$program"
