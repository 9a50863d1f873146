#!/usr/bin/env bash
# down.sh FOLDER: ends what a stage in the folder has started, by process id, and removes the folder. It may be run again, and
# whatever was killed before.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/names.sh"

[[ -d $DIR ]] || exit 0
lock_stage
for name in kube-apiserver etcd; do
  for ((end = SECONDS + 60; SECONDS < end;)); do
    pid=$(stage_pid $name)
    # Nothing else than the number of a single process.
    [[ $pid =~ ^([2-9]|[1-9][0-9]+)$ ]] || break
    kill -KILL "$pid" 2>/dev/null || true
    sleep 0.05
  done
  if [[ -n $(stage_pid $name) ]]; then echo "still alive: $name" >&2 && exit 1; fi
done
rm -rf "$DATA"
rm -rf "$DIR"
