#!/usr/bin/env bash
# registry.sh FOLDER: two registries on loopback ports beside the stage in the folder, which must be up. Both serve the images
# of the tests, as <address>/busybox:1 and so on, and containerd trusts both over plain HTTP. Prints a line for each:
#
#   open <address>
#   locked <address> <user> <password>   the same images, for whoever has the password
#
# The open one is also reached by a name that is the same everywhere: registry.stage.test/busybox:1.
#
# Running it again starts what is not running, at the same addresses. Who asked for what is in FOLDER/registry/open.log and
# locked.log. The process ids are in open.pid and locked.pid beside them; down.sh ends both.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/names.sh"

USER_NAME=puller PASSWORD=secret
for command in docker-registry perl; do
  command -v $command >/dev/null || { echo "there is no $command" >&2 && exit 1; }
done
[[ -d $DIR ]] || { echo "there is no stage in $DIR" >&2 && exit 1; }
lock_stage
folder=$DIR/registry
mkdir -p "$folder"

registry_pid() { server_pid docker-registry "$folder/$1.yml"; }

fail() {
  echo "the registry $1 does not come up:" >&2
  tail -n 20 "$folder/$1.log" >&2
  exit 1
}

# Starts a registry unless it runs; its first port is one that the kernel chooses, and stays.
serve() {
  local name=$1 settings=$2 address pid listening="$folder/$1.address"
  address=$(cat "$listening" 2>/dev/null || echo 127.0.0.1:0)
  if [[ -z $(registry_pid "$name") ]]; then
    cat >"$folder/$name.yml" <<YAML
version: 0.1
log: { level: info, formatter: json }
storage: { filesystem: { rootdirectory: $folder/data }, delete: { enabled: true } }
http: { addr: '$address', secret: of-this-stage }
$settings
YAML
    local log=$folder/$name.log from
    touch "$log"
    from=$(($(wc -c <"$log") + 1))
    setsid docker-registry serve "$folder/$name.yml" </dev/null >>"$log" 2>&1 9<&- &
    local started=$! end=$((SECONDS + 120))
    while :; do
      address=$(tail -c +$from "$log" 2>/dev/null | sed -nE 's/.*listening on (127\.0\.0\.1:[0-9]+).*/\1/p')
      if [[ -n $address ]]; then break; fi
      if has_ended "$started" registry_pid "$name" || [[ $SECONDS -gt $end ]]; then fail "$name"; fi
      sleep 0.05
    done
    printf %s "$address" >"$listening.new" && mv "$listening.new" "$listening"
  fi
  pid=$(registry_pid "$name")
  [[ -n $pid ]] || fail "$name"
  echo "$pid" >"$folder/$name.pid.new" && mv "$folder/$name.pid.new" "$folder/$name.pid"
  trust "$address" "$address"
}

# What an image's name begins with, and the address where containerd finds it, over plain HTTP.
trust() {
  mkdir -p "$DIR/certs.d/$1"
  printf 'server = "http://%s"\n\n[host."http://%s"]\n  capabilities = ["pull", "resolve"]\n' "$2" "$2" \
    >"$DIR/certs.d/$1/hosts.toml"
}

# What is pushed to the one is served by the other, too: they share their storage.
serve open ''
trust registry.stage.test "$(cat "$folder/open.address")"
if [[ ! -e $folder/filled ]]; then
  for name in busybox server; do
    ctr --address "$SOCKET" --namespace k8s.io images push --plain-http \
      "$(cat "$folder/open.address")/$name:1" "stage.test/$name:1" >/dev/null
  done
  touch "$folder/filled"
fi
# A hash of bcrypt, as registries want it; perl is a part of every Debian, htpasswd is not.
perl -e 'print "$ARGV[0]:", crypt($ARGV[1], q($2y$05$) . "rxkubeletstageofthetes"), "\n"' $USER_NAME $PASSWORD >"$folder/htpasswd"
serve locked "auth: { htpasswd: { realm: stage, path: $folder/htpasswd } }"
echo "open $(cat "$folder/open.address")"
echo "locked $(cat "$folder/locked.address") $USER_NAME $PASSWORD"
