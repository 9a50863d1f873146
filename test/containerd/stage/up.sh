#!/usr/bin/env bash
# up.sh FOLDER: a containerd of its own, with a network and images of its own, all in the folder; nothing of the machine's
# containerd is used. Prints where its socket is. Running it again starts what is not running, so it is also what brings a
# killed containerd back. Its process id is in FOLDER/containerd.pid. down.sh takes everything away, whenever this was interrupted.
#
# CONTAINERD names another binary than that of the PATH; its shim and its ctr must lie beside it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/names.sh"

binary=$(command -v "$CONTAINERD") || { echo "there is no $CONTAINERD" >&2 && exit 1; }
export PATH="$(dirname "$binary"):$PATH"
[[ -n $CNI_BIN ]] || { echo 'there are no CNI plugins in /usr/lib/cni or /opt/cni/bin' >&2 && exit 1; }
mkdir -p "$DIR"
lock_stage

free_subnet() {
  local start subnet number
  start=$(printf %s "$DIR" | cksum | cut -d' ' -f1)
  for number in $(seq "$start" $((start + 200))); do
    subnet=10.$((200 + number / 256 % 50)).$((number % 256))
    if [[ -z $(ip -4 route show root "$subnet.0/24") && -z $(ip -4 route show match "$subnet.0/24" | grep -v ^default) ]]; then
      echo "$subnet.0/24"
      return
    fi
  done
  echo 'no subnet is free' >&2
  return 1
}

if [[ ! -e $DIR/config.toml ]]; then
  # The bridge plugin turns it on, and down.sh off again.
  cat /proc/sys/net/ipv4/ip_forward >"$DIR/ip-forward-before"
  iptables-save -t nat | grep -c '^:CNI-HOSTPORT-' >"$DIR/hostport-chains-before" || true
  mkdir -p "$DIR/cni"
  cat >"$DIR/cni/10-pods.conflist" <<CNI
{
  "cniVersion": "0.4.0",
  "name": "$NETWORK",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "$BRIDGE",
      "isGateway": true,
      "hairpinMode": true,
      "ipam": {
        "type": "host-local",
        "dataDir": "$DIR/cni-addresses",
        "ranges": [[{ "subnet": "$(free_subnet)" }]],
        "routes": [{ "dst": "0.0.0.0/0" }]
      }
    },
    { "type": "portmap", "capabilities": { "portMappings": true }, "snat": true }
  ]
}
CNI
  # Version 2 is read by containerd 1.x and 2.x alike. Whoever may not lower oom_score_adj has to say so here.
  cat >"$DIR/config.toml.new" <<TOML
version = 2
root = "$ROOT"
state = "$STATE"

[grpc]
  address = "$SOCKET"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "stage.test/pause:1"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$CNI_BIN"
    conf_dir = "$DIR/cni"

  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "$DIR/certs.d"

  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        Root = "$STATE/runc"
TOML
  mv "$DIR/config.toml.new" "$DIR/config.toml"
fi

# Somebody has to make the root of the cgroups of pods; the agent only checks that it is there.
for root in $(cgroup_roots); do
  mkdir -p "$root"
  for file in cpuset.cpus cpuset.mems; do
    if [[ -e $root/../$file && -z $(cat "$root/$file" 2>/dev/null) ]]; then cat "$root/../$file" >"$root/$file"; fi
  done
  for controller in $(cat "$root/../cgroup.controllers" 2>/dev/null); do
    echo "+$controller" >"$root/../cgroup.subtree_control" 2>/dev/null || true
  done
done
echo "/$CGROUP_ROOT" >"$DIR/cgroup-root"

if [[ -z $(containerd_pid) ]]; then
  rm -f "$SOCKET" "$SOCKET.ttrpc"
  setsid "$binary" --config "$DIR/config.toml" </dev/null >>"$DIR/containerd.log" 2>&1 9<&- &
fi
for ((tries = 0; ; tries++)); do
  if ctr --address "$SOCKET" version >/dev/null 2>&1; then break; fi
  sleep 0.05
  if [[ $tries -gt 300 || -z $(containerd_pid) ]]; then
    echo 'containerd does not come up:' >&2
    tail -n 20 "$DIR/containerd.log" >&2
    exit 1
  fi
done
containerd_pid >"$DIR/containerd.pid"

if [[ ! -e $DIR/images.done ]]; then
  "$here/images.sh" "$DIR/images"
  tar -C "$DIR/images" -cf "$DIR/images.tar" .
  ctr --address "$SOCKET" --namespace k8s.io images import "$DIR/images.tar" >/dev/null
  rm "$DIR/images.tar"
  touch "$DIR/images.done"
fi
echo "unix://$SOCKET"
