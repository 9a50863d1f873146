#!/usr/bin/env bash
# sign.sh FOLDER SECONDS [client|server] < REQUEST: prints the certificate that the authority of the stage in the folder makes of a
# request, both as PEM, for a client or a server and for so long. It believes everything that the request says.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/names.sh"
seconds=${2:?how long}
kind=${3:-client}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/request.pem"
touch "$work/index.txt"
cat >"$work/ca.cnf" <<CNF
[ca]
default_ca = stage
[stage]
database = $work/index.txt
new_certs_dir = $work
rand_serial = yes
default_md = sha256
policy = anything
x509_extensions = $kind
copy_extensions = copy
[anything]
organizationName = optional
commonName = supplied
[client]
keyUsage = digitalSignature
extendedKeyUsage = clientAuth
[server]
keyUsage = digitalSignature
extendedKeyUsage = serverAuth
CNF
at() { date -u -d "@$1" +%Y%m%d%H%M%SZ; }
now=$(date +%s)
# A clock that is a little behind is no reason to refuse it.
openssl ca -batch -notext -config "$work/ca.cnf" -cert "$PKI/ca.crt" -keyfile "$PKI/ca.key" -preserveDN \
  -startdate "$(at $((now - 5)))" -enddate "$(at $((now + seconds)))" -in "$work/request.pem" -out "$work/certificate.pem" \
  2>"$work/log" || { cat "$work/log" >&2 && exit 1; }
cat "$work/certificate.pem"
