# What a stage in the folder $1 is made of. Sourced by up.sh and down.sh, which both must find the same things, whatever
# became of the other.
if [[ $# -ne 1 || $1 != /* || $1 == / ]]; then
  echo "usage: $0 /absolute/folder" >&2
  exit 2
fi
if [[ $EUID -ne 0 ]]; then
  echo "$0: must be run as root" >&2
  exit 2
fi

# Where iptables and ip are, whoever calls.
export PATH=$PATH:/usr/sbin:/sbin

DIR=${1%/}
SOCKET=$DIR/containerd.sock
ROOT=$DIR/root
STATE=$DIR/state
# The kernel takes 15 characters as the name of an interface.
NETWORK=rxct$(printf %s "$DIR" | cksum | cut -d' ' -f1)
BRIDGE=${NETWORK:0:15}
# Below this an agent makes the cgroups of its pods, so that those of other stages are none of its business.
CGROUP_ROOT=$NETWORK
CONTAINERD=${CONTAINERD:-containerd}
CNI_BIN=${CNI_BIN:-$(for folder in /usr/lib/cni /opt/cni/bin; do if [[ -x $folder/bridge ]]; then echo "$folder" && break; fi; done)}

# Processes of the stage's own: its containerd with the shims and the runc that these call, and its registries.
stage_processes() {
  local process name
  for process in /proc/[0-9]*; do
    { read -r name <"$process/comm"; } 2>/dev/null || continue
    case $name in
      containerd | containerd-shim* | runc* | ctr | docker-registry) ;;
      *) continue ;;
    esac
    if tr '\0' '\n' 2>/dev/null <"$process/cmdline" | grep -qF -e "$DIR/"; then echo "${process#/proc/}"; fi
  done
}

# The process id of the stage's containerd; nothing while there is none.
containerd_pid() {
  local pid
  for pid in $(stage_processes); do
    if [[ $(cat "/proc/$pid/comm" 2>/dev/null) == containerd ]]; then echo "$pid"; fi
  done
}

# One script at a time; those that a killed one has started hold the lock, too, until they have ended.
lock_stage() {
  exec 9<"$DIR"
  flock --timeout 60 9 || { echo "$DIR is in use" >&2 && exit 1; }
}

# Where the root of the stage's cgroups is, or would be: in each tree that there is.
cgroup_roots() {
  awk -v name="$CGROUP_ROOT" '{ for (i = 7; i < NF; i++) if ($i == "-" && ($(i + 1) == "cgroup" || $(i + 1) == "cgroup2")) print $5 "/" name }' \
    /proc/self/mountinfo | sort -u
}
