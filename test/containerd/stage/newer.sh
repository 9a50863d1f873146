#!/usr/bin/env bash
# newer.sh FOLDER [SUITE]: unpacks the containerd of another Debian suite (trixie unless given) into a folder, beside that of
# the machine and without touching what is installed. Prints the path for CONTAINERD. apt is given a configuration of its own,
# with the mirror that the machine uses.
set -euo pipefail
folder=$(realpath -m "$1")
suite=${2:-trixie}
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | sort -u | head -n 1)
keys=$(ls /usr/share/keyrings/debian-archive-keyring.* | head -n 1)
[[ -n $mirror ]] || { echo 'apt of this machine has no Debian mirror' >&2 && exit 1; }

apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$folder" "$apt/lists/partial" "$apt/cache/archives/partial"
echo "deb [signed-by=$keys] $mirror $suite main" >"$apt/sources.list"
own=(
  -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root
)
apt-get "${own[@]}" -qq update
(cd "$apt" && apt-get "${own[@]}" -qq download containerd)
dpkg-deb -x "$apt"/containerd_*.deb "$folder"
echo "$folder/usr/bin/containerd"
