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

# One that no route of the machine and no other stage has: a bridge comes with the first pod only.
free_subnet() {
  local start subnet number
  start=$(printf %s "$DIR" | cksum | cut -d' ' -f1)
  for number in $(seq "$start" $((start + 200))); do
    subnet=10.$((200 + number / 256 % 50)).$((number % 256)).0/24
    if [[ -z $(ip -4 route show root "$subnet") && -z $(ip -4 route show match "$subnet" | grep -v ^default) ]] &&
      ! cat "$STAGES"/rxct* 2>/dev/null | grep -qxF "$subnet"; then
      echo "$subnet"
      return
    fi
  done
  echo 'no subnet is free' >&2
  return 1
}

lock_machine
if [[ ! -s $STAGES/$NETWORK ]]; then
  if [[ -z $(other_stages) ]]; then
    # The bridge plugin turns it on, and the plugin for host ports makes chains of its own; down.sh undoes both.
    cat /proc/sys/net/ipv4/ip_forward >"$STAGES/ip-forward-before"
    iptables-save -t nat | grep -c '^:CNI-HOSTPORT-' >"$STAGES/hostport-chains-before" || true
  fi
  subnet=$(free_subnet)
  printf '%s\n' "$DIR" "$subnet" >"$STAGES/new" && mv "$STAGES/new" "$STAGES/$NETWORK"
fi
subnet=$(sed -n 2p "$STAGES/$NETWORK")
unlock_machine

if [[ ! -e $DIR/config.toml ]]; then
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
        "ranges": [[{ "subnet": "$subnet" }]],
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

fail() {
  echo "containerd does not come up: $1" >&2
  tail -n 20 "$DIR/containerd.log" >&2
  exit 1
}
started=
if [[ -z $(containerd_pid) ]]; then
  rm -f "$SOCKET" "$SOCKET.ttrpc"
  setsid "$binary" --config "$DIR/config.toml" </dev/null >>"$DIR/containerd.log" 2>&1 9<&- &
  started=$!
fi
# It answers to its own clients long before it answers to an agent.
until problem=$(node "$here/ready.mjs" "$SOCKET" 2>&1); do
  # A process that was looked for while it began may be there now.
  if has_ended "$started" containerd_pid && has_ended "$started" containerd_pid; then fail 'it has ended'; fi
  if [[ $SECONDS -gt 180 ]]; then fail "$problem"; fi
  sleep 0.05
done
pid=$(containerd_pid)
[[ -n $pid ]] || fail 'it has ended'
echo "$pid" >"$DIR/containerd.pid.new" && mv "$DIR/containerd.pid.new" "$DIR/containerd.pid"

if [[ ! -e $DIR/images.done ]]; then
  "$here/images.sh" "$DIR/images"
  tar -C "$DIR/images" -cf "$DIR/images.tar" .
  ctr --address "$SOCKET" --namespace k8s.io images import "$DIR/images.tar" >/dev/null
  rm "$DIR/images.tar"
  touch "$DIR/images.done"
fi
echo "unix://$SOCKET"
