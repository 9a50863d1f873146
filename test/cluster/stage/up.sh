#!/usr/bin/env bash
# up.sh FOLDER: an etcd and a kube-apiserver on loopback, with certificates, ports and data of their own, all in the folder, except
# that the data are in memory. Prints the address of the API. Running it again starts what is not running, on the same ports and the
# same data, so it is also what brings a killed one back. down.sh takes everything away, whenever this was interrupted.
#
#   FOLDER/admin.kubeconfig               for somebody who may do everything
#   FOLDER/pki/ca.crt, ca.key             who has signed everything, and signs more: node.sh
#   FOLDER/audit.log                      what nodes have asked for, one JSON object per line
#   FOLDER/etcd.pid, kube-apiserver.pid   process ids, for who wants to kill one
#
# Where the server has ephemeral containers only as an alpha feature, they are switched on.
#
# There is neither a scheduler nor a controller manager: whoever uses it says on which node a pod is. A namespace gets the service
# account that pods need by furnish.mjs, without a token in each pod: a server of 1.20 would look for a Secret that a controller makes.
#
# KUBE_APISERVER and ETCD name other binaries; nothing is used of them that only one version has. An etcd on loopback without
# certificates is for everybody on this machine: there are no secrets in it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/names.sh"

etcd=$(command -v "${ETCD:-etcd}") || { echo "there is no ${ETCD:-etcd}; Debian has it as etcd-server" >&2 && exit 1; }
# What was found once is what restarts. It is not built here: that takes minutes, which only the caller of build.sh expects.
server=$(cat "$DIR/kube-apiserver.path" 2>/dev/null) || server=$("$here/build.sh" --cached)
(umask 077 && mkdir -p "$DIR")
lock_stage
echo "$server" >"$DIR/kube-apiserver.path.new" && mv "$DIR/kube-apiserver.path.new" "$DIR/kube-apiserver.path"

# A port that nobody listens on. It is below those that the kernel gives away, so that nobody else gets it while a killed server
# is away.
free_port() {
  perl -MIO::Socket::INET -e '
    for (1 .. 1000) {
      my $port = 20000 + int rand 10000;
      my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1", LocalPort => $port) or next;
      print $port and exit;
    }
    die "no port is free\n"'
}
port() {
  if [[ ! -s $DIR/$1.port ]]; then free_port >"$DIR/$1.port.new" && mv "$DIR/$1.port.new" "$DIR/$1.port"; fi
  cat "$DIR/$1.port"
}

mkdir -p "$PKI"
if [[ ! -e $PKI/ca.crt ]]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -sha256 -days 30 -subj /CN=stage-ca \
    -addext 'keyUsage=critical,keyCertSign,cRLSign,digitalSignature' -keyout "$PKI/ca.key" -out "$PKI/ca.crt.new" 2>/dev/null
  mv "$PKI/ca.crt.new" "$PKI/ca.crt"
fi
certificate "$PKI/server" /CN=kube-apiserver "$SERVER"
certificate "$PKI/admin" /O=system:masters/CN=admin "$CLIENT"
if [[ ! -e $PKI/service-account.pub ]]; then
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$PKI/service-account.key" 2>/dev/null
  openssl pkey -in "$PKI/service-account.key" -pubout -out "$PKI/service-account.pub.new"
  mv "$PKI/service-account.pub.new" "$PKI/service-account.pub"
fi
# A node's requests, once each when they are answered; a watch is there twice, when it begins, too.
cat >"$DIR/audit-policy.yaml" <<'YAML'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    userGroups: ['system:nodes', 'system:bootstrappers']
  - level: None
YAML

fail() {
  echo "$1 does not come up:" >&2
  tail -n 20 "$DIR/$1.log" >&2
  exit 1
}
# Starts one in the background, in a session of its own and with its log in the folder. Returns when it can be found.
start() {
  local name=$1
  shift
  setsid "$@" </dev/null >>"$DIR/$name.log" 2>&1 9<&- &
  while [[ -z $(stage_pid "$name") ]]; do
    kill -0 $! 2>/dev/null || fail "$name"
    sleep 0.01
  done
}

client=http://127.0.0.1:$(port etcd-client)
peer=http://127.0.0.1:$(port etcd-peer)
if [[ -z $(stage_pid etcd) ]]; then
  # Its arguments may not name the folder.
  start etcd env -i PATH="$PATH" STAGE="$DIR/" "$etcd" --name stage "${SIGN[etcd]}" --logger zap \
    --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "stage=$peer"
fi

address=https://127.0.0.1:$(port kube-apiserver)
kubeconfig admin "$address" >"$DIR/admin.kubeconfig.new" && mv "$DIR/admin.kubeconfig.new" "$DIR/admin.kubeconfig"
if [[ -z $(stage_pid kube-apiserver) ]]; then
  gates=()
  if [[ $("$server" --help) == *EphemeralContainers=true\|false* ]]; then gates=(--feature-gates=EphemeralContainers=true); fi
  start kube-apiserver env -i PATH="$PATH" HOME="$DIR" "$server" \
    --etcd-servers="$client" --etcd-prefix=/registry \
    --bind-address=127.0.0.1 --secure-port="$(port kube-apiserver)" --endpoint-reconciler-type=none \
    --kubelet-client-certificate="$PKI/admin.crt" --kubelet-client-key="$PKI/admin.key" \
    --kubelet-preferred-address-types=InternalIP \
    --tls-cert-file="$PKI/server.crt" --tls-private-key-file="$PKI/server.key" --client-ca-file="$PKI/ca.crt" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --enable-bootstrap-token-auth=true \
    --service-account-issuer=https://kubernetes.default.svc --api-audiences=https://kubernetes.default.svc \
    --service-account-key-file="$PKI/service-account.pub" --service-account-signing-key-file="$PKI/service-account.key" \
    --service-cluster-ip-range=10.0.0.0/16 --allow-privileged=true --profiling=false "${gates[@]}" \
    --audit-policy-file="$DIR/audit-policy.yaml" "${SIGN[kube-apiserver]}" --audit-log-maxsize=1000 --v=1
fi
until node "$here/furnish.mjs" "$DIR" 2>"$DIR/furnish.log"; do
  for name in etcd kube-apiserver; do
    if [[ -z $(stage_pid $name) ]]; then fail $name; fi
  done
  if [[ $SECONDS -gt 240 ]]; then
    cat "$DIR/furnish.log" >&2
    fail kube-apiserver
  fi
  sleep 0.2
done
for name in etcd kube-apiserver; do
  pid=$(stage_pid $name)
  [[ -n $pid ]] || fail $name
  echo "$pid" >"$DIR/$name.pid.new" && mv "$DIR/$name.pid.new" "$DIR/$name.pid"
done
echo "$address"
