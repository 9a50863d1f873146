import { describe, expect, it } from 'vitest';
import { execOperands } from '../../../src/cli/commands/exec.js';
import { containerTarget } from '../../../src/cli/local/find-container.js';
import { usableIo } from '../../../src/cli/local/local-terminal.js';
import { forwardRequestPath, streamRequestPath } from '../../../src/cli/local/stream-request.js';
import type { Pod } from '../../../src/model/pod/pod.js';

const pod: Pod = { metadata: { name: 'web', namespace: 'a b', uid: 'u' }, spec: { containers: [] } };

describe('the operands of exec', () => {
  it('are a pod, and behind the dashes a command', () => {
    expect(execOperands(['web', 'ls', '-l'], 2)).toEqual({ target: 'web', command: ['ls', '-l'] });
  });

  it.each([
    [[], 0, 'pod or type/name must be specified'],
    [['ls'], 1, 'pod or type/name must be specified'],
    [['web'], 0, 'you must specify at least one command for the container'],
    [['web', 'ls'], 0, 'exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead'],
    [['web', 'ls', '-l'], 1, 'exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead'],
  ])('%j with %i behind the dashes are refused', (operands, afterDashes, message) => {
    expect(() => execOperands(operands, afterDashes)).toThrow(new Error(message));
  });
});

describe('the target of a command', () => {
  it.each([
    ['web', undefined, { pod: 'web', container: undefined }],
    ['pod/web', undefined, { pod: 'web', container: undefined }],
    ['web/main', undefined, { pod: 'web', container: 'main' }],
    ['pods/web/main', undefined, { pod: 'web', container: 'main' }],
    ['web_other', 'side', { pod: 'web_other', container: 'side' }],
  ])('%s with -c %s', (target, flag, expected) => {
    expect(containerTarget(target, flag)).toEqual(expected);
  });

  it.each(['', '/', 'web/', 'web/a/b', 'pod/'])('is refused as %j', (target) => {
    expect(() => containerTarget(target, undefined)).toThrow(
      new Error(`${JSON.stringify(target)} is no pod: expected POD or POD/CONTAINER`),
    );
  });

  it('is refused with two containers', () => {
    expect(() => containerTarget('web/a', 'b')).toThrow(new Error('only one of -c or POD/CONTAINER is allowed'));
  });
});

describe('the terminal of a command', () => {
  it('needs standard input, and a terminal of this process', () => {
    const note = 'Unable to use a TTY - input is not a terminal or the right kind of file';
    expect(usableIo({ stdin: true, tty: true }, true)).toEqual({ stdin: true, tty: true, notes: [] });
    expect(usableIo({ stdin: true, tty: true }, false)).toEqual({ stdin: true, tty: false, notes: [note] });
    expect(usableIo({ stdin: false, tty: true }, true)).toEqual({ stdin: false, tty: false, notes: [] });
    expect(usableIo({ stdin: true, tty: false }, true)).toEqual({ stdin: true, tty: false, notes: [] });
  });
});

describe('the path of a stream', () => {
  it('has the command with every byte, and the outputs that are wanted', () => {
    const command = ['sh', '-c', 'a & b=c+d', ''];
    const path = streamRequestPath({ kind: 'exec', pod, container: 'main', command, stdin: true, tty: false });
    const { pathname, searchParams } = new URL(path, 'http://local');
    expect(pathname).toBe('/exec/a%20b/web/main');
    expect(searchParams.getAll('command')).toEqual(command);
    searchParams.delete('command');
    expect(Object.fromEntries(searchParams)).toEqual({ input: '1', output: '1', error: '1' });
  });

  it('has no error output of its own on a terminal', () => {
    expect(streamRequestPath({ kind: 'attach', pod, container: 'main', stdin: false, tty: true })).toBe(
      '/attach/a%20b/web/main?output=1&tty=1',
    );
    expect(forwardRequestPath(pod)).toBe('/portForward/a%20b/web');
  });
});
