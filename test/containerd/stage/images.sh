#!/usr/bin/env bash
# images.sh FOLDER: an OCI layout with the images of the tests, all of the one static busybox of this machine:
#
#   stage.test/busybox:1   a shell; the variable FROM_IMAGE, the folder /srv, user root
#   stage.test/named:1     a shell as the user "web", by name: ids 1000, in the group 3000, too
#   stage.test/server:1    serves /www on port 8080 as user 1000
#   busybox:1              the same as far as the examples are concerned, under the name that they use
#   stage.test/pause:1     what a pod's sandbox runs: sleeps, and reaps what it inherits
set -euo pipefail
layout=$1
busybox=$(command -v busybox) || { echo 'there is no busybox' >&2 && exit 1; }
rm -rf "$layout"
mkdir -p "$layout/blobs/sha256"

files=$layout.files
rm -rf "$files"
mkdir -p "$files"/{bin,etc,proc,sys,dev,srv,www,root}
mkdir -m 1777 "$files/tmp"
cp "$busybox" "$files/bin/busybox"
chroot "$files" /bin/busybox true || { echo "$busybox is not static; Debian has it as busybox-static" >&2 && exit 1; }
# In one process: there are four hundred.
perl -e 'while (<STDIN>) { chomp; $_ eq "busybox" or symlink "busybox", "$ARGV[0]/$_" or die "$_: $!" }' "$files/bin" \
  < <("$busybox" --list)
printf 'root:x:0:0:root:/root:/bin/sh\nweb:x:1000:1000:web:/www:/bin/sh\n' >"$files/etc/passwd"
printf 'root:x:0:\nweb:x:1000:\nmore:x:3000:web\n' >"$files/etc/group"
echo 'hello from the image' >"$files/www/index.html"

# Moves a file among the blobs; prints its descriptor.
blob() {
  local digest size
  digest=$(sha256sum "$1" | cut -d' ' -f1)
  size=$(stat -c %s "$1")
  mv "$1" "$layout/blobs/sha256/$digest"
  printf '{"mediaType":"%s","digest":"sha256:%s","size":%d%s}' "$2" "$digest" "$size" "${3:-}"
}

tar -C "$files" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf "$layout/layer" .
diff_id=sha256:$(sha256sum "$layout/layer" | cut -d' ' -f1)
layer=$(blob "$layout/layer" application/vnd.oci.image.layer.v1.tar)
case $(uname -m) in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *) architecture=$(uname -m) ;;
esac
rm -rf "$files"

# The descriptor of one image: its name, and what its configuration says.
image() {
  local config
  printf '{"architecture":"%s","os":"linux","config":%s,"rootfs":{"type":"layers","diff_ids":["%s"]}}' \
    "$architecture" "$2" "$diff_id" >"$layout/config"
  config=$(blob "$layout/config" application/vnd.oci.image.config.v1+json)
  printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}' \
    "$config" "$layer" >"$layout/manifest"
  blob "$layout/manifest" application/vnd.oci.image.manifest.v1+json \
    ",\"annotations\":{\"io.containerd.image.name\":\"$1:1\",\"org.opencontainers.image.ref.name\":\"1\"}"
}

PAUSE='trap "exit 0" TERM INT; while :; do sleep 2147483 & wait; done'
images=(
  "$(image stage.test/busybox '{"Env":["PATH=/bin","FROM_IMAGE=yes"],"Cmd":["sh"],"WorkingDir":"/srv"}')"
  "$(image stage.test/server '{"Env":["PATH=/bin"],"Entrypoint":["httpd","-f","-p","8080"],"Cmd":["-h","/www"],"User":"1000"}')"
  "$(image stage.test/named '{"Env":["PATH=/bin"],"Entrypoint":["sh"],"Cmd":["-c","exit 6"],"User":"web"}')"
  # With a configuration of its own: containerd tells of an image by any of its names.
  "$(image docker.io/library/busybox '{"Env":["PATH=/bin"],"Cmd":["sh"]}')"
  "$(image stage.test/pause "{\"Env\":[\"PATH=/bin\"],\"Entrypoint\":[\"sh\",\"-c\",\"${PAUSE//\"/\\\"}\"]}")"
)
printf '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
(
  IFS=,
  printf '{"schemaVersion":2,"manifests":[%s]}' "${images[*]}"
) >"$layout/index.json"
