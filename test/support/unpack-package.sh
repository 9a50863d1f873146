#!/usr/bin/env bash
# unpack-package.sh SUITE PACKAGE BINARY FOLDER [PATH…]: unpacks a package of a Debian suite into a folder, without touching what is installed:
# an installation might start a service. Prints the path of the binary, which is given as in the package, such as usr/bin/containerd. With
# paths only these are unpacked. The folder is this user's own; what is there is not fetched again, and several may ask for it at the same time.
# apt is given a configuration of its own, with the mirror that the machine uses.
set -euo pipefail
suite=$1 package=$2 folder=$(realpath -m "$4")
binary=$folder/$3
paths=("${@:5}")

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
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/unpacked"
echo "deb [signed-by=$keys] $mirror $suite main" >"$apt/sources.list"
own=(
  -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root
)
apt-get "${own[@]}" -qq update >&2
(cd "$apt" && apt-get "${own[@]}" -qq download "$package" >&2)
dpkg-deb --fsys-tarfile "$apt/${package}"_*.deb | tar -xp -C "$apt/unpacked" "${paths[@]/#/./}"
# The binary comes last: where it is, everything is.
mv "$apt/unpacked/$3" "$apt/binary"
cp -a "$apt/unpacked/." "$folder"
chmod 700 "$folder"
mv "$apt/binary" "$binary.new"
mv "$binary.new" "$binary"
echo "$binary"
