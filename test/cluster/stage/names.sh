# What a stage in the folder $1 is made of. Sourced by the other scripts, which must all find the same things, whatever became
# of one of them.
if [[ $# -lt 1 || $1 != /* || $1 == / ]]; then
  echo "usage: $0 /absolute/folder" >&2
  exit 2
fi

DIR=${1%/}
PKI=$DIR/pki

# The data of etcd: in memory where the machine has room for that, since on a disk that others use a single write may take seconds.
DATA=$DIR/etcd
if [[ -w /dev/shm && $(df --output=size -k /dev/shm 2>/dev/null | tail -n 1) -ge 1000000 ]]; then
  DATA=/dev/shm/rx-kubelet-etcd-$(printf %s "$DIR" | sha256sum | cut -c1-32)
fi

# An argument that nobody else's has, by which a process of the stage is told, even if whoever started it was killed at once.
declare -A SIGN=([etcd]="--data-dir=$DATA" [kube-apiserver]="--audit-log-path=$DIR/audit.log")

# The process id of one of the two; nothing while there is none.
stage_pid() {
  # This way it does not find itself.
  grep -lzxF --regexp="${SIGN[$1]}" /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3 | head -n 1 || true
}

# One script at a time; those that a killed one has started hold the lock, too, until they have ended.
lock_stage() {
  exec 9<"$DIR"
  flock --timeout 300 9 || { echo "$DIR is in use" >&2 && exit 1; }
}

# A key and a certificate of the stage's authority: file, subject, extensions. Whole, or not there.
certificate() {
  [[ -e $1.crt ]] && return
  openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key" 2>/dev/null ||
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"
  openssl req -new -key "$1.key" -subj "$2" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" -set_serial "0x0$(openssl rand -hex 8)" -days 30 -sha256 \
    -extfile <(printf '%s\n' "$3") -out "$1.crt.new" 2>/dev/null
  rm "$1.csr"
  mv "$1.crt.new" "$1.crt"
}
CLIENT='keyUsage=digitalSignature
extendedKeyUsage=clientAuth'
SERVER='keyUsage=digitalSignature
extendedKeyUsage=serverAuth
subjectAltName=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.0.0.1'

# Prints a kubeconfig: user, server. Everything is in it, so that it may be moved.
kubeconfig() {
  printf 'apiVersion: v1\nkind: Config\ncurrent-context: stage\n'
  printf 'clusters:\n- name: stage\n  cluster:\n    server: %s\n    certificate-authority-data: %s\n' "$2" "$(base64 -w0 "$PKI/ca.crt")"
  printf 'users:\n- name: stage\n  user:\n    client-certificate-data: %s\n    client-key-data: %s\n' \
    "$(base64 -w0 "$PKI/$1.crt")" "$(base64 -w0 "$PKI/$1.key")"
  printf 'contexts:\n- name: stage\n  context:\n    cluster: stage\n    user: stage\n'
}
