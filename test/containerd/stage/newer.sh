#!/usr/bin/env bash
# newer.sh [FOLDER [SUITE]]: unpacks the containerd of another Debian suite (trixie unless given) into a folder, beside that of
# the machine and without touching what is installed. Prints the path for CONTAINERD. The folder is one of this user's own in
# the folder for temporary files unless given; what is there is not fetched again, and several may ask for it at the same time.
# apt is given a configuration of its own, with the mirror that the machine uses.
set -euo pipefail
suite=${2:-trixie}
folder=$(realpath -m "${1:-${TMPDIR:-/tmp}/rx-kubelet-containerd-$EUID-$suite}")
binary=$folder/usr/bin/containerd

# Nobody else may put there what is run later.
(umask 077 && mkdir -p "$folder")
[[ -O $folder ]] || { echo "$folder belongs to somebody else" >&2 && exit 1; }
exec 9<"$folder"
flock --timeout 300 9 || { echo "$folder is in use" >&2 && exit 1; }
if [[ -x $binary ]]; then
  echo "$binary"
  exit 0
fi

# As apt knows them, or where it has no lists as they are configured.
mirrors() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian'
  grep -hsE '^(deb |URIs:)' /etc/apt/sources.list /etc/apt/sources.list.d/* |
    grep -oE 'https?://[^ ]+' | grep -E '/debian/?$' || true
}
mirror=$(mirrors | head -n 1)
[[ -n $mirror ]] || { echo 'apt of this machine has no Debian mirror' >&2 && exit 1; }
keys=$(ls /usr/share/keyrings/debian-archive-keyring.* | head -n 1)

apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
echo "deb [signed-by=$keys] $mirror $suite main" >"$apt/sources.list"
own=(
  -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root
)
apt-get "${own[@]}" -qq update >&2
(cd "$apt" && apt-get "${own[@]}" -qq download containerd >&2)
# The binary comes last: where it is, everything is.
dpkg-deb -x "$apt"/containerd_*.deb "$apt/unpacked"
mv "$apt/unpacked/usr/bin/containerd" "$apt/containerd"
cp -a "$apt/unpacked/." "$folder"
chmod 700 "$folder"
mv "$apt/containerd" "$binary.new"
mv "$binary.new" "$binary"
echo "$binary"
