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

# The process id of the stage's server of that name, which leads a session of its own: one of its children is called like it until
# it runs another program, and has the same arguments. Nothing while there is none.
server_pid() {
  local name=$1 argument=$2 pid stat
  for pid in $(stage_processes); do
    { stat=$(<"/proc/$pid/stat") && [[ $(<"/proc/$pid/comm") == "$name" ]]; } 2>/dev/null || continue
    # The fields after the name: state, parent, group, session.
    read -r _ _ _ session _ <<<"${stat##*) }"
    if [[ $session == "$pid" ]] && tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF -e "$argument"; then
      echo "$pid"
      return
    fi
  done
}
containerd_pid() { server_pid containerd "$DIR/config.toml"; }

# Whether a server has ended, or has never come up: no process of it is found, and the one that was started, if any, is gone.
has_ended() {
  local started=$1
  shift
  if [[ -n $started ]] && kill -0 "$started" 2>/dev/null; then return 1; fi
  [[ -z $("$@") ]]
}

# Of a list, only the numbers of single processes: 0 is the group of the caller.
only_pids() { grep -xE '[2-9]|[1-9][0-9]+' | sort -un || true; }

# One script at a time; those that a killed one has started hold the lock, too, until they have ended.
lock_stage() {
  exec 9<"$DIR"
  flock --timeout 300 9 || { echo "$DIR is in use" >&2 && exit 1; }
}

# Every stage of the machine has a file here that names its folder and its subnet. The first one notes how it has found what all share,
# and the last one leaves it so.
STAGES=/run/rx-kubelet-stages
lock_machine() {
  mkdir -p "$STAGES"
  exec 8<"$STAGES"
  flock --timeout 300 8 || { echo "$STAGES is in use" >&2 && exit 1; }
}
unlock_machine() { exec 8<&-; }
# The names of the other stages of the machine. Those whose folder is gone are forgotten.
other_stages() {
  local file folder
  for file in "$STAGES"/rxct*; do
    [[ -e $file && $file != "$STAGES/$NETWORK" ]] || continue
    read -r folder <"$file" || true
    if [[ -d $folder ]]; then echo "${file##*/}"; else rm -f "$file"; fi
  done
}

# Where the root of the stage's cgroups is, or would be: in each tree that there is.
cgroup_roots() {
  awk -v name="$CGROUP_ROOT" '{ for (i = 7; i < NF; i++) if ($i == "-" && ($(i + 1) == "cgroup" || $(i + 1) == "cgroup2")) print $5 "/" name }' \
    /proc/self/mountinfo | sort -u
}
