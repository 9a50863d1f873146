#!/usr/bin/env bash
# build.sh [--cached]: prints the path of a kube-apiserver. It is the one that KUBE_APISERVER names, or else one that is built, of
# Debian's source package `kubernetes` (1.20.2), into a folder of this user's cache: some six minutes of two cores, once for the
# machine. With --cached it is not built: what is not there yet is said, with exit code 1. Several may ask at the same time, and
# one that was killed while it built is gone on from.
#
# It needs golang-1.19-go, rsync, make, gcc and dpkg-dev of Debian. apt is given a configuration of its own, with the mirror that
# the machine uses, so that the machine's list of sources stays as it is.
set -euo pipefail
suite=bookworm version=1.20.2 go=/usr/lib/go-1.19
# Another one where the steps below change, so that what was built with the former ones is not taken for it.
recipe=2

if [[ -n ${KUBE_APISERVER:-} ]]; then
  command -v "$KUBE_APISERVER" || { echo "KUBE_APISERVER: there is no $KUBE_APISERVER" >&2 && exit 1; }
  exit 0
fi
# Also where HOME is not set.
folder=${XDG_CACHE_HOME:-$(echo ~)/.cache}/rx-kubelet/kube-apiserver-$version-$recipe-$(uname -m)
binary=$folder/kube-apiserver
if [[ -x $binary ]]; then
  echo "$binary"
  exit 0
fi
if [[ ${1:-} == --cached ]]; then
  echo "there is no $binary; test/cluster/stage/build.sh makes it" >&2
  exit 1
fi

# Nobody else may put there what is run later.
(umask 077 && mkdir -p "$folder")
[[ -O $folder ]] || { echo "$folder belongs to somebody else" >&2 && exit 1; }
exec 9<"$folder"
flock --timeout 3600 9 || { echo "$folder is in use" >&2 && exit 1; }
if [[ -x $binary ]]; then
  echo "$binary"
  exit 0
fi

lacking=()
for command in "$go/bin/go" rsync make gcc dpkg-source; do command -v "$command" >/dev/null || lacking+=("$command"); done
if [[ ${#lacking[@]} -gt 0 ]]; then
  echo "to build kube-apiserver there has to be ${lacking[*]}: apt-get install golang-1.19-go rsync make gcc dpkg-dev" >&2
  exit 1
fi

# As apt knows them, or where it has no lists as they are configured.
mirrors() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' "Codename: $suite"
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian'
  grep -hsE '^(deb |URIs:)' /etc/apt/sources.list /etc/apt/sources.list.d/* |
    grep -oE 'https?://[^ ]+' | grep -E '/debian/?$' || true
}

build=$folder/build
# The source comes last to its place: where it is, it is whole.
if [[ ! -d $build/source ]]; then
  mirror=$(mirrors | head -n 1)
  [[ -n $mirror ]] || { echo 'apt of this machine has no Debian mirror' >&2 && exit 1; }
  keys=$(ls /usr/share/keyrings/debian-archive-keyring.* | head -n 1)
  rm -rf "$build"
  mkdir -p "$build/apt/lists/partial" "$build/apt/cache/archives/partial"
  for kind in deb deb-src; do echo "$kind [signed-by=$keys] $mirror $suite main"; done >"$build/apt/sources.list"
  own=(
    -o Dir::Etc::SourceList="$build/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists="$build/apt/lists" -o Dir::Cache="$build/apt/cache"
  )
  if [[ $EUID -eq 0 ]]; then own+=(-o APT::Sandbox::User=root); fi
  (
    cd "$build"
    apt-get "${own[@]}" -qq update
    apt-get "${own[@]}" -qq --download-only source kubernetes
    dpkg-source --no-check -x kubernetes_*.dsc unpacked
    # The copy of this library in that source walks through maps as Go did before 1.18; with a newer one the server dies of it.
    apt-get "${own[@]}" -qq download golang-github-modern-go-reflect2-dev
    dpkg-deb -x golang-github-modern-go-reflect2-dev_*.deb reflect2
    rm unpacked/vendor/github.com/modern-go/reflect2/*.{go,s}
    cp reflect2/usr/share/gocode/src/github.com/modern-go/reflect2/*.{go,s} unpacked/vendor/github.com/modern-go/reflect2
    mv unpacked source
  ) >&2
fi

# The makefile expects to be below a GOPATH, and turns modules off by itself.
mkdir -p "$build/go/src/k8s.io"
ln -sfn "$build/source" "$build/go/src/k8s.io/kubernetes"
(
  cd "$build/go/src/k8s.io/kubernetes"
  env -u GOFLAGS -u GOROOT HOME="$build" GOPATH="$build/go" CGO_ENABLED=0 PATH="$go/bin:$PATH" \
    make WHAT=cmd/kube-apiserver
) >&2 9<&-
built=$(readlink -f "$build/source/_output/bin/kube-apiserver")
"$built" --version >&2
mv "$built" "$binary"
chmod -R u+w "$build"
rm -rf "$build"
echo "$binary"
