import { dirname } from 'node:path';
import { isBelow } from './container-tree.js';
import type { Isolation } from '../confinement/isolation.js';
import { shellQuote, shellWords } from '../machine/shell-quote.js';

/** A bind mount in the container's own mount namespace, with all mounts below its source. */
export interface BindMount {
  readonly source: string;
  readonly target: string;
  readonly readonly: boolean;
  /** Absent in a record of an earlier version, as is `takesMounts`. */
  readonly recursiveReadOnly?: boolean;
  /** Whether later mounts of the machine below the source appear in the container. */
  readonly takesMounts?: boolean;
  /** A mount point that is made inside of an earlier mount. */
  readonly point?: { readonly below: string; readonly names: readonly string[]; readonly isDirectory: boolean };
}

export interface MountPoint {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** The mounts of a container in the order in which they are made. */
export interface MountPlan {
  readonly mounts: readonly BindMount[];
  /** Directories of the machine that lack a mount point; the container gets its own copy of each. Parents come first. */
  readonly covers: readonly string[];
  /** The mount points that are made in these copies. */
  readonly points: readonly MountPoint[];
  /** Directories that do not exist on the machine yet. */
  readonly missingSources: readonly string[];
}

export interface MountScriptPlan extends Omit<MountPlan, 'missingSources'> {
  /** A directory of the machine for this start only; the copies are made there. */
  readonly scratchDirectory: string;
  /** The pod's own /etc/resolv.conf. */
  readonly resolvConf: string | undefined;
  /** Makes the machine's files read-only in this mount namespace, which has to be the container's own. */
  readonly readonlyRoot: boolean;
}

/** The old root of the machine, in the container's own root directory, while its mounts are made. */
const OLD_ROOT = '/.rx-embedded-old-root';
/** Mounted for the container like for every other, or without a disk behind it. */
const KEPT_WRITABLE = ['/proc', '/sys', '/dev'];

/** Runs a step in a shell of its own; its error messages become the reason of the failure. */
const ATTEMPT = 'attempt() { what=$1; shift; why=$("$@" 2>&1) || fail "$what: $why"; }';

/** A field of fstab(5). */
const fstabField = (path: string): string =>
  path.replaceAll(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);

/**
 * Covers /dev with a layer in memory that takes new files; mounts below /dev are repeated, since a layer does not show
 * them. The machine's own /dev is never changed. Layers are named from inside their directory, since a comma or colon
 * in its path would end an option.
 */
const DEV_COVER = `
cover_dev() {
  "$mount" -t tmpfs tmpfs "$1" && cd "$1" && mkdir new work old && "$mount" --rbind /dev "$1/old" || exit 1
  "$mount" -t overlay overlay -o lowerdir=/dev,upperdir=new,workdir=work /dev || exit 1
  cd /
  cat /proc/self/mountinfo | while read -r _ _ _ _ point _; do
    case $point in
      *\\\\*) ;;
      "$1/old/"*) "$mount" --bind "$point" "/dev\${point#"$1/old"}" || exit 1 ;;
    esac
  done || exit 1
  umount -l "$1" || exit 1
}`;

/**
 * Makes a copy of a directory in a file system in memory: a bind mount for each of its entries, and the links. The copy takes
 * the place of the directory in this mount namespace; the entries stay those of the machine. `fill` prints the bind mounts of all plain
 * names as lines of fstab(5), for one mount(8), and makes the others itself. An unbindable mount is not part of recursive binds, so
 * that a copy never contains itself.
 */
const COVER = `
fill() {
  from=$1 to=$2
  cd -P -- "\${from:-/}" || exit 1
  set --
  for name in * .[!.]* ..?*; do
    if [ -L "$name" ] || [ ! -d "$name" ]; then continue; fi
    set -- "$@" "$to/$name"
    [ $# -lt 100 ] || { mkdir -- "$@" && set -- || exit 1; }
  done
  [ $# = 0 ] || mkdir -- "$@" || exit 1
  set --
  for name in * .[!.]* ..?*; do
    [ -L "$name" ] || continue
    set -- "$@" "./$name"
    [ $# -lt 100 ] || { cp -a -- "$@" "$to/" && set -- || exit 1; }
  done
  [ $# = 0 ] || cp -a -- "$@" "$to/" || exit 1
  for name in * .[!.]* ..?*; do
    if [ -L "$name" ] || [ ! -e "$name" ]; then continue; fi
    [ -d "$name" ] || : > "$to/$name" || exit 1
    case $name in
      *[!A-Za-z0-9._@+:,~%=-]*) odd_names=yes ;;
      *) printf '%s/%s %s/%s none rbind,nofail 0 0\\n' "$from_field" "$name" "$to_field" "$name" ;;
    esac
  done
  [ -n "$odd_names" ] || return 0
  for name in * .[!.]* ..?*; do
    if [ -L "$name" ] || [ ! -e "$name" ]; then continue; fi
    case $name in
      *[!A-Za-z0-9._@+:,~%=-]*) "$mount" --rbind -- "$from/$name" "$to/$name" >&2 || [ ! -e "$name" ] || exit 1 ;;
    esac
  done
}
cover() {
  from_field=$3 to_field=$4 odd_names=
  options=$(stat -c 'mode=%a,uid=%u,gid=%g' -- "\${1:-/}") && "$mount" -t tmpfs -o "$options,unbindable" tmpfs "$2" || exit 1
  ( fill "$1" "$2" ) > "$2.list" && "$mount" -a -T "$2.list" || exit 1
  if [ -n "$1" ]; then "$mount" --move "$2" "$1"; else
    mkdir "$2${OLD_ROOT}" && cd "$2" && "$pivot_root" . .${OLD_ROOT} && cd /
  fi && "$mount" --make-private "\${1:-/}" || exit 1
}`;

const coverScript = ({ covers, points, scratchDirectory }: MountScriptPlan, { tools, canCoverDev }: Isolation) => {
  if (covers.length === 0) return '';
  const scratch = shellQuote(scratchDirectory);
  const calls = covers.map((path) => {
    const from = path === '/' ? '' : path;
    const call =
      path === '/dev' && canCoverDev
        ? `cover_dev ${scratch}`
        : `cover ${shellWords([from, scratchDirectory, fstabField(from), fstabField(scratchDirectory)])}`;
    return `attempt ${shellQuote(`the container's own ${path} could not be made`)} ${call}`;
  });
  const directories = points.map(({ path, isDirectory }) => (isDirectory ? path : dirname(path)));
  const files = points.flatMap(({ path, isDirectory }) => (isDirectory ? [] : [path]));
  return [
    `pivot_root=${shellQuote(tools.get('pivot_root') ?? 'pivot_root')}`,
    DEV_COVER,
    COVER,
    `own_points() { mkdir -p -- ${shellWords(directories)} || exit 1; for file in ${shellWords(files)}; do : >> "$file" || exit 1; done; }`,
    `mkdir -p -- ${scratch}`,
    ...calls,
    ...(points.length > 0 ? [`attempt 'the mount points could not be made' own_points`] : []),
  ].join('\n');
};

/**
 * Makes a mount point inside of an earlier mount, whose files other containers may exchange for links meanwhile: every directory is
 * entered before the next one is made in it.
 */
const NEW_POINT = `
new_point() {
  kind=$1 at=$2
  cd -P -- "$at" && [ "$(pwd -P)" = "$at" ] || exit 1
  shift 2
  while [ $# -gt 1 ] || { [ $# = 1 ] && [ "$kind" = directory ]; }; do
    [ -d "./$1" ] || mkdir -- "./$1" || exit 1
    at=\${at%/}/$1
    cd -P -- "./$1" && [ "$(pwd -P)" = "$at" ] || exit 1
    shift
  done
  [ $# = 0 ] || [ -e "./$1" ] || ( set -C; : > "./$1" )
}`;

/** Whether a source is hidden by an earlier mount, or contains a copy of a directory. */
const isHidden = ({ mounts, covers }: Pick<MountPlan, 'mounts' | 'covers'>): boolean =>
  mounts.some(
    ({ source }, index) =>
      mounts.slice(0, index).some(({ target }) => isBelow(source, target)) ||
      covers.some((path) => isBelow(path, source)),
  );

/** The list of mounts is reached by a descriptor, since one of the mounts may hide its path. */
const bindScript = ({ mounts, covers, scratchDirectory }: MountScriptPlan): string => {
  if (mounts.length === 0) return '';
  const prefix = covers.includes('/') ? OLD_ROOT : '';
  const parts: string[] = [];
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length > 0) parts.push(`mount_all <<'END'\n${lines.join('\n')}\nEND`);
    lines = [];
  };
  for (const { source, target, point, takesMounts } of mounts) {
    if (point) {
      flush();
      const words = shellWords([point.isDirectory ? 'directory' : 'file', point.below, ...point.names]);
      parts.push(`attempt ${shellQuote(`the mount point ${target} could not be made`)} new_point ${words}`);
    }
    const options = `rbind,${takesMounts === true ? 'rslave' : 'rprivate'}`;
    lines.push(`${fstabField(`${prefix}${source}`)} ${fstabField(target)} none ${options} 0 0`);
  }
  flush();
  return `${NEW_POINT}
mount_all() { cat > /proc/self/fd/5 && attempt 'a mount could not be made' "$mount" -a -T /proc/self/fd/5; }
exec 5<> ${shellQuote(`${scratchDirectory}.list`)}
${parts.join('\n')}
exec 5>&-`;
};

/**
 * Makes the read-only mounts of the config read-only, and with a read-only root all mounts except those of devices, of the kernel and
 * of the config. A mount under another one cannot be reached, and fails; for all others a failure is an error. The machine's own
 * flags (nosuid and the like) are repeated, since a remount would drop them.
 */
export const readonlyScript = ({ readonlyRoot, mounts }: MountScriptPlan): string => {
  if (!readonlyRoot && mounts.every(({ readonly }) => !readonly)) return '';
  const below = (path: string): string => `${shellQuote(path.replace(/\/$/, ''))}/*`;
  // The innermost mount decides.
  const ofMounts = mounts
    .toSorted((one, other) => other.target.length - one.target.length)
    .map(({ target, readonly, recursiveReadOnly }) => {
      const [itself, others] = [shellQuote(target), below(target)];
      if (!readonly) return `${itself}|${others}) continue ;;`;
      return recursiveReadOnly === true ? `${itself}|${others}) ;;` : `${itself}) ;; ${others}) continue ;;`;
    });
  const others = readonlyRoot
    ? `${KEPT_WRITABLE.map((path) => `${shellQuote(path)}|${below(path)}`).join('|')}) continue ;;`
    : '*) continue ;;';
  return `
make_readonly() {
  cat /proc/self/mountinfo | while read -r _ _ _ _ point flags _; do
    case $point in *\\\\*) point=$(printf '%b' "$point") ;; esac
    case $point in
      ${[...ofMounts, others].join('\n      ')}
    esac
    options=remount,bind,ro
    for flag in nosuid nodev noexec nosymfollow; do case ,$flags, in *,$flag,*) options=$options,$flag ;; esac; done
    "$mount" -o "$options" none "$point" && continue
    [ "$(stat -c %m -- "$point" 2>/dev/null)" != "$point" ] || exit 1
  done
}
attempt 'a mount could not be made read-only' make_readonly`;
};

/**
 * The shell lines that make the mounts in a mount namespace of the container's own, which begins as a copy of the machine's. They
 * call `fail` with the reason when a mount cannot be made.
 */
export const mountScript = (asked: MountScriptPlan, isolation: Isolation): string => {
  // The whole tree of the machine stays within reach if the root is covered.
  const plan = isHidden(asked) && !asked.covers.includes('/') ? { ...asked, covers: ['/', ...asked.covers] } : asked;
  const { resolvConf, covers } = plan;
  return [
    ATTEMPT,
    `mount=${shellQuote(isolation.tools.get('mount') ?? 'mount')}`,
    ...(resolvConf === undefined
      ? []
      : [
          `[ ! -e /etc/resolv.conf ] || attempt '/etc/resolv.conf could not be mounted' "$mount" --bind ${shellQuote(resolvConf)} /etc/resolv.conf`,
        ]),
    coverScript(plan, isolation),
    bindScript(plan),
    covers.includes('/')
      ? `leave_root() { umount -l ${OLD_ROOT} && rmdir ${OLD_ROOT}; }\nattempt 'the root directory of the machine could not be left' leave_root`
      : '',
  ].join('\n');
};
