#!/usr/bin/env bash
# node.sh FOLDER NAME [SERVER]: prints where a kubeconfig is with which somebody is that node, for the stage in the folder. With
# SERVER it asks there instead of at the API server itself: a proxy in between, with the certificate in FOLDER/pki/server.crt.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/names.sh"
name=${2:?a name} server=${3:-https://127.0.0.1:$(cat "$DIR/kube-apiserver.port")}

lock_stage
certificate "$PKI/node-$name" "/O=system:nodes/CN=system:node:$name" "$CLIENT"
config=$DIR/$name${3:+-by-${3##*:}}.kubeconfig
(umask 077 && kubeconfig "node-$name" "$server" >"$config.new")
mv "$config.new" "$config"
echo "$config"
