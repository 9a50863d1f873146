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
  } | sort -u
}
cgroups() {
  if [[ -s $ids_file ]]; then
    find /sys/fs/cgroup -depth -type d -path '*/[0-9a-f]*' -printf '%f %p\n' 2>/dev/null |
      awk 'NR == FNR { wanted[$1]; next } $1 in wanted { print $2 }' "$ids_file" - || true
  fi
}
# Kills by pid, until nothing is found any more.
end_all() {
  local pids
  for ((tries = 0; tries < 200; tries++)); do
    pids=$("$@")
    [[ -n $pids ]] || return 0
    kill -KILL $pids 2>/dev/null || true
    sleep 0.05
  done
  echo "still alive: $pids" >&2
  return 1
}
root_processes() {
  for root in $(cgroup_roots); do
    find "$root" -name cgroup.procs -exec cat {} + 2>/dev/null || true
  done | sort -un | { grep -vx 0 || true; }
}
container_processes() {
  cgroups | while read -r cgroup; do cat "$cgroup/cgroup.procs" 2>/dev/null || true; done | sort -un
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
  for ((tries = 0; tries < 100; tries++)); do
    [[ -d $root ]] || break
    find "$root" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.05
  done
done
# Those that the cgroups were made in, unless somebody else's are there.
rmdir /sys/fs/cgroup/k8s.io /sys/fs/cgroup/*/k8s.io 2>/dev/null || true

# Shims listen here, whatever the state directory; the name is made of the address, the namespace and the id.
if [[ -d /run/containerd/s ]]; then
  while read -r id; do
    rm -f "/run/containerd/s/$(printf %s "$SOCKET/k8s.io/$id" | sha256sum | cut -d' ' -f1)"
  done <"$ids_file"
fi
rmdir /run/containerd/s /run/containerd 2>/dev/null || true

awk -v folder="$DIR/" 'index($5, folder) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r mount; do
  umount --lazy "$mount"
done

# The veths have gone with their network namespaces.
if ip link show "$BRIDGE" >/dev/null 2>&1; then ip link delete "$BRIDGE"; fi
nat_rules() { iptables-save -t nat 2>/dev/null | { grep -E -e "$1" || true; }; }
nat_rules "^-A .*$NETWORK" | while read -r rule; do
  chain=$(grep -oE 'CNI-(DN-)?[0-9a-f]{16,}' <<<"$rule" | tail -n 1 || true)
  eval "iptables -t nat -D ${rule#-A }" 2>/dev/null || true
  if [[ -n $chain ]]; then
    iptables -t nat -F "$chain" 2>/dev/null || true
    iptables -t nat -X "$chain" 2>/dev/null || true
  fi
done
# The plugin for host ports leaves its own chains behind; another stage may be about to use them.
if [[ $(cat "$DIR/hostport-chains-before" 2>/dev/null) == 0 ]] && ! ip -br link | grep -q '^rxct'; then
  nat_rules '^-A (PREROUTING|OUTPUT|POSTROUTING) .*-j CNI-HOSTPORT-' | while read -r rule; do
    eval "iptables -t nat -D ${rule#-A }" 2>/dev/null || true
  done
  for chain in DNAT SETMARK MASQ; do
    iptables -t nat -F CNI-HOSTPORT-$chain 2>/dev/null || true
    iptables -t nat -X CNI-HOSTPORT-$chain 2>/dev/null || true
  done
fi
# Results of plugins are kept here, whatever the configuration; those of the loopback have no name of ours.
while read -r id; do rm -f /var/lib/cni/results/*-"$id"-*; done <"$ids_file"
rm -f /var/lib/cni/results/"$NETWORK"-*
rmdir /var/lib/cni/results /var/lib/cni 2>/dev/null || true
if [[ $(cat "$DIR/ip-forward-before" 2>/dev/null) == 0 ]]; then echo 0 >/proc/sys/net/ipv4/ip_forward; fi

rm -rf "$DIR"
