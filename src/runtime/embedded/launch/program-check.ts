import { USUAL_LIMITS, type ArgumentLimits } from '../../../model/cri/argument-list.js';
import { readFileSync } from '../machine/machine.js';
import { shellQuote } from '../machine/shell-quote.js';

/** The exit code of the script below for a program that cannot run. */
export const CANNOT_RUN = 3;

/**
 * Shell lines that exit with `CANNOT_RUN`, and write why, if execve(2) will refuse the program `$1`, which `$2` is the PATH for. They run as the user of the
 * program. Everything that they cannot decide is left to execve. Source: runc's libcontainer/standard_init_linux.go, Go's os/exec LookPath
 */
export const programCheck = ({ withFormat }: { readonly withFormat: boolean }): string => `
no() { printf '%s' "$1"; exit ${CANNOT_RUN}; }
program=$1
case $1 in
*/*) ;;
*)
  set -f; IFS=:
  for directory in $2; do
    program=\${directory:-.}/$1
    [ -f "$program" ] && [ -x "$program" ] && break
    program=
  done
  set +f; unset IFS
  [ -n "$1" ] && [ -n "$program" ] && [ -n "$2" ] || no 'executable file not found in $PATH' ;;
esac
if [ ! -e "$program" ]; then
  why=$(LC_ALL=C ls -dL -- "$program" 2>&1)
  case $why in
  *': Not a directory') why='not a directory' ;;
  *': Too many levels of symbolic links') why='too many levels of symbolic links' ;;
  *': Permission denied') why='permission denied' ;;
  *': File name too long') why='file name too long' ;;
  *) why='no such file or directory' ;;
  esac
  no "stat $program: $why"
fi
[ -f "$program" ] && [ -x "$program" ] || no 'permission denied'
${withFormat ? FORMAT_CHECK : ''}
exit 0`;

/**
 * Other formats, and programs of other machines, may be registered with binfmt_misc. Of an ELF file, the class, the byte order and the machine count: 64-bit x86 and ARM
 * also run their 32-bit programs, and what other machines run is left to execve.
 */
const FORMAT_CHECK = `
[ -r "$program" ] || exit 0
bad='exec format error'
[ -s "$program" ] || no "$bad: the file is empty"
has_others() { for entry in /proc/sys/fs/binfmt_misc/*; do case $entry in */register | */status | */\\*) ;; *) return 0 ;; esac; done; return 1; }
set -- $(od -An -v -tx1 -N20 < "$program" 2>/dev/null)
case $1$2$3$4 in
'') ;;
2321*)
  read -r line < "$program"
  line=\${line#??}
  while :; do case $line in [' ${'\t'}']*) line=\${line#?} ;; *) break ;; esac; done
  interpreter=\${line%%[' ${'\t'}']*}
  [ -n "$interpreter" ] || no "$bad: its first line names no interpreter"
  case $interpreter in *${shellQuote('\r')}) no "its first line ends with a carriage return, which is part of the interpreter's name: no such file or directory" ;; esac
  [ -e "$interpreter" ] || no "its interpreter $interpreter: no such file or directory"
  [ -f "$interpreter" ] && [ -x "$interpreter" ] || no "its interpreter $interpreter: permission denied" ;;
7f454c46)
  own=$(od -An -v -tx1 -N20 < /bin/sh 2>/dev/null)
  [ -n "$own" ] || exit 0
  theirs=$5$6\${19}\${20}
  set -- $own
  case $5$6\${19}\${20}:$theirs in
  "$theirs:$theirs" | 02013e00:01010300 | 02013e00:01013e00 | 0201b700:01012800) ;;
  02013e00:* | 0201b700:*) has_others || no "$bad: it is a program for another kind of machine" ;;
  esac ;;
*) has_others || no "$bad: it is neither a program nor a script whose first line begins with #!" ;;
esac`;

/** The type of an entry of the auxiliary vector. Source: include/uapi/linux/auxvec.h AT_PAGESZ */
const PAGE_SIZE = 6n;

/** The limits of this process, which its children inherit. */
export const argumentLimits = (): ArgumentLimits => {
  try {
    const vector = readFileSync('/proc/self/auxv');
    const entries = Array.from({ length: Math.floor(vector.length / 16) }, (_, index) => index * 16);
    const page = entries.find((at) => vector.readBigUInt64LE(at) === PAGE_SIZE);
    const stack = /^Max stack size +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return {
      pageBytes: page === undefined ? USUAL_LIMITS.pageBytes : Number(vector.readBigUInt64LE(page + 8)),
      stackBytes: stack === undefined ? undefined : Number(stack),
    };
  } catch {
    return USUAL_LIMITS;
  }
};
