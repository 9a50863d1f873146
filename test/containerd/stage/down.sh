#!/usr/bin/env bash
# down.sh FOLDER: ends everything that a stage in the folder has started, and removes what it has made, the folder included.
# It asks nobody to do so: whatever was killed, and whenever, it finds what is left by itself, and may be run again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/names.sh"

[[ -d $DIR ]] || exit 0
lock_stage

# Of every container and sandbox that there is, and by the log also of those that a killed containerd has lost sight of.
ids() {
  {
    find "$ROOT/io.containerd.grpc.v1.cri/sandboxes" "$ROOT/io.containerd.grpc.v1.cri/containers" \
      "$STATE"/io.containerd.runtime.v2.task/* "$STATE/runc"/* -mindepth 1 -maxdepth 1 -type d -printf '%f\n' 2>/dev/null || true
    grep -ohE '\b[0-9a-f]{64}\b' "$DIR/containerd.log" 2>/dev/null || true
    for pid in $(stage_processes); do
      tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -xE '[0-9a-f]{64}' || true
    done
    cat "$DIR/ids" 2>/dev/null || true
  } | grep -xE '[0-9a-f]{64}' | sort -u || true
}
cgroups() {
  if [[ -s $ids_file ]]; then
    find /sys/fs/cgroup -depth -type d -path '*/[0-9a-f]*' -printf '%f %p\n' 2>/dev/null |
      awk 'NR == FNR { wanted[$1]; next } $1 in wanted { print $2 }' "$ids_file" - || true
  fi
}
# Kills by pid, until nothing is found any more.
end_all() {
  local pids pid end=$((SECONDS + 120))
  while :; do
    # A process that is just ending is listed as 0 in some trees.
    pids=$("$@" | only_pids)
    [[ -n $pids ]] || return 0
    if [[ $SECONDS -gt $end ]]; then break; fi
    for pid in $pids; do kill -KILL "$pid" 2>/dev/null || true; done
    sleep 0.05
  done
  echo "still alive: $pids" >&2
  return 1
}
root_processes() {
  for root in $(cgroup_roots); do
    find "$root" -name cgroup.procs -exec cat {} + 2>/dev/null || true
  done
}
container_processes() {
  cgroups | while read -r cgroup; do cat "$cgroup/cgroup.procs" 2>/dev/null || true; done
}

ids_file=$DIR/ids
ids >"$ids_file.new" && mv "$ids_file.new" "$ids_file"
# First who might start more.
end_all stage_processes
ids >"$ids_file.new" && mv "$ids_file.new" "$ids_file"
end_all container_processes
end_all root_processes
cgroups | while read -r cgroup; do rmdir "$cgroup" 2>/dev/null || true; done
# A process that was killed may take a moment to leave.
for root in $(cgroup_roots); do
  for ((end = SECONDS + 30; SECONDS < end;)); do
    [[ -d $root ]] || break
    find "$root" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.05
  done
done

# Shims listen here, whatever the state directory; the name is made of the address, the namespace and the id.
if [[ -d /run/containerd/s ]]; then
  while read -r id; do
    rm -f "/run/containerd/s/$(printf %s "$SOCKET/k8s.io/$id" | sha256sum | cut -d' ' -f1)"
  done <"$ids_file"
fi

awk -v folder="$DIR/" 'index($5, folder) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r mount; do
  umount --lazy "$mount"
done

# The veths have gone with their network namespaces.
if ip link show "$BRIDGE" >/dev/null 2>&1; then ip link delete "$BRIDGE"; fi
# Another stage, or an agent, may be changing the tables at the same time.
nat() { iptables -w 60 -t nat "$@" 2>/dev/null || true; }
nat_rules() { iptables-save -t nat 2>/dev/null | { grep -E -e "$1" || true; }; }
# The plugins give every rule a comment with the name of the network.
nat_rules "^-A .*name: \\\\\"$NETWORK\\\\\"" | while read -r rule; do
  chain=$(grep -oE 'CNI-(DN-)?[0-9a-f]{16,}' <<<"$rule" | tail -n 1 || true)
  eval "nat -D ${rule#-A }"
  if [[ -n $chain ]]; then
    nat -F "$chain"
    nat -X "$chain"
  fi
done
# Results of plugins are kept here, whatever the configuration; those of the loopback have no name of ours.
while read -r id; do rm -f /var/lib/cni/results/*-"$id"-*; done <"$ids_file"
rm -f /var/lib/cni/results/"$NETWORK"-*

# What all stages share goes with the last one, and only where no other runtime lives on this machine, which might be about to use it.
other_runtimes() {
  local process name
  for process in /proc/[0-9]*; do
    { read -r name <"$process/comm"; } 2>/dev/null || continue
    case $name in
      containerd | containerd-shim* | dockerd | crio | podman) ;;
      *) continue ;;
    esac
    # One that was killed keeps its name until its parent asks for it, but has no arguments.
    if tr '\0' '\n' 2>/dev/null <"$process/cmdline" | grep -q .; then echo "${process#/proc/}"; fi
  done
}
lock_machine
if [[ -z $(other_stages) ]]; then
  if [[ -z $(other_runtimes) ]]; then
    rmdir /sys/fs/cgroup/k8s.io /sys/fs/cgroup/*/k8s.io /run/containerd/s /run/containerd /var/lib/cni/results /var/lib/cni \
      2>/dev/null || true
    # Chains with ports of others stay; so do those that were there before.
    if [[ $(cat "$STAGES/hostport-chains-before" 2>/dev/null) == 0 && -z $(nat_rules '^-A CNI-HOSTPORT-DNAT ') ]]; then
      nat_rules '^-A (PREROUTING|OUTPUT|POSTROUTING) .*-j CNI-HOSTPORT-' | while read -r rule; do
        eval "nat -D ${rule#-A }"
      done
      for chain in DNAT SETMARK MASQ; do
        nat -F CNI-HOSTPORT-$chain
        nat -X CNI-HOSTPORT-$chain
      done
    fi
    if [[ $(cat "$STAGES/ip-forward-before" 2>/dev/null) == 0 ]]; then echo 0 >/proc/sys/net/ipv4/ip_forward; fi
  fi
  rm -f "$STAGES/ip-forward-before" "$STAGES/hostport-chains-before"
fi
rm -rf "$DIR"
rm -f "$STAGES/$NETWORK"
unlock_machine
