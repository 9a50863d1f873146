import type { FileOperation } from './file-operation.js';

/** The calls that `fileOperations` reads. */
const CALLS = [
  ...['open', 'openat', 'creat', 'write', 'pwrite64', 'writev', 'pwritev', 'ftruncate', 'chmod', 'fchmod', 'fchmodat'],
  ...['mkdir', 'mkdirat', 'symlink', 'symlinkat', 'rename', 'renameat', 'renameat2', 'unlink', 'unlinkat', 'rmdir'],
  ...['fsync', 'fdatasync', 'copy_file_range', 'sendfile', 'link', 'linkat'],
];

/** The command in front of a program that writes its calls, and those of all its children, into the file. */
export const tracing = (file: string): readonly string[] => [
  ...[
    'strace',
    '--follow-forks',
    '--seccomp-bpf',
    '--decode-fds=path',
    '--quiet=all',
    '--signal=none',
    '--successful-only',
  ],
  ...['--strings-in-hex=all', '--string-limit=1048576', `--trace=${CALLS.join(',')}`, `--output=${file}`],
];

/**
 * The changes below the directory, in the order in which their calls ended. Errors: a call that this reader does not know, or that strace has
 * cut off.
 */
export const fileOperations = (trace: string, directory: string): readonly FileOperation[] => {
  const written = [...Buffer.from(directory)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  return trace
    .split('\n')
    .filter((line) => line.includes(written))
    .flatMap((line) => operationsOf(line.replace(/^\d+ +/, '')))
    .filter((operation) => isBelow(operation, directory));
};

const isBelow = (operation: FileOperation, directory: string): boolean =>
  (operation.kind === 'rename' ? [operation.from, operation.to] : [operation.path]).some((path) =>
    path.startsWith(`${directory}/`),
  );

const operationsOf = (call: string): readonly FileOperation[] => {
  // The program was killed within the call, of which strace then says no end.
  if (/ <unfinished \.\.\.>$|\) += \?$/.test(call)) return [];
  const [, name = '', rest = ''] = /^(\w+)\((.*)\) += \d+(?:<.*>)?$/.exec(call) ?? [];
  const words = argumentsOf(rest);
  const at = (index: number): string => words[index] ?? '';
  const text = (index: number): string => bytes(at(index)).toString();
  // A call with a directory has its descriptor before the path.
  const below = (index: number): string => {
    const path = text(index + 1);
    return path.startsWith('/') ? path : `${pathOf(at(index))}/${path}`;
  };
  const mode = (index: number): number => Number.parseInt(at(index) || '0', 8);
  const opened = (path: string, flags: string, index: number): readonly FileOperation[] =>
    /O_WRONLY|O_RDWR|O_CREAT/.test(flags) ? [{ kind: 'open', path, flags, mode: mode(index) }] : [];
  switch (name) {
    case 'open':
      return opened(text(0), at(1), 2);
    case 'openat':
      return opened(below(0), at(2), 3);
    case 'write':
      return [{ kind: 'write', path: pathOf(at(0)), data: bytes(at(1)) }];
    case 'pwrite64':
      return [{ kind: 'write', path: pathOf(at(0)), data: bytes(at(1)), offset: Number(at(3)) }];
    case 'writev': {
      const parts = [...at(1).matchAll(/iov_base=("[^"]*")/g)].map(([, part = '']) => bytes(part));
      return [{ kind: 'write', path: pathOf(at(0)), data: Buffer.concat(parts) }];
    }
    case 'ftruncate':
      return [{ kind: 'truncate', path: pathOf(at(0)), length: Number(at(1)) }];
    case 'chmod':
      return [{ kind: 'chmod', path: text(0), mode: mode(1) }];
    case 'fchmod':
      return [{ kind: 'chmod', path: pathOf(at(0)), mode: mode(1) }];
    case 'fchmodat':
      return [{ kind: 'chmod', path: below(0), mode: mode(2) }];
    case 'mkdir':
      return [{ kind: 'mkdir', path: text(0), mode: mode(1) }];
    case 'mkdirat':
      return [{ kind: 'mkdir', path: below(0), mode: mode(2) }];
    case 'symlink':
      return [{ kind: 'symlink', target: text(0), path: text(1) }];
    case 'symlinkat':
      return [{ kind: 'symlink', target: text(0), path: below(1) }];
    case 'rename':
      return [{ kind: 'rename', from: text(0), to: text(1) }];
    case 'renameat':
    case 'renameat2':
      return [{ kind: 'rename', from: below(0), to: below(2) }];
    case 'unlink':
    case 'rmdir':
      return [{ kind: 'remove', path: text(0) }];
    case 'unlinkat':
      return [{ kind: 'remove', path: below(0) }];
    case 'fsync':
    case 'fdatasync':
      return [{ kind: 'sync', path: pathOf(at(0)) }];
    default:
      throw new Error(`not read: ${call.slice(0, 200)} … ${call.slice(-200)}`);
  }
};

/** Splits at the commas outside of quotes and brackets. */
const argumentsOf = (text: string): readonly string[] => {
  const words = text.match(/(?:"[^"]*"(?:\.\.\.)?|\[[^\]]*\]|<[^>]*>|[^,"[<])+/g) ?? [];
  return words.map((word) => word.trim());
};

const bytes = (word: string): Buffer => {
  const [, hex] = /^"((?:\\x[0-9a-f]{2})*)"$/.exec(word) ?? [];
  if (hex === undefined) throw new Error(`not a whole text of strace: ${word.slice(0, 80)}`);
  return Buffer.from(hex.replaceAll('\\x', ''), 'hex');
};

/** The path of a descriptor such as `3<\x2f…>`. */
const pathOf = (word: string): string => {
  const [, path = ''] = /^\w+<(.*)>$/.exec(word) ?? [];
  return Buffer.from(
    path.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();
};
