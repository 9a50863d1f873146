import { describe, expect, it } from 'vitest';
import type { ContainerStatus, Mount } from '../../../src/generated/runtime/v1/api.js';
import {
  joinMessages,
  terminationFilesOf,
  MESSAGE_FILE_BYTES,
  messageText,
  outdatedMessages,
  terminationLogOf,
} from '../../../src/model/cri/termination-message.js';
import type { RuntimeItem } from '../../../src/model/pleg/runtime-pod.js';
import { aContainerStatus } from '../cri-fixtures.js';

const mounted = (hostPath: string, containerPath: string): Mount => ({ hostPath, containerPath }) as Mount;
const FILE = '/pods/words';

/** A container that ended with code 1 and has a file for its termination message. */
const ended = (
  fields: Partial<ContainerStatus> = {},
  { path = '/dev/termination-log', policy = 'FallbackToLogsOnError' } = {},
): ContainerStatus =>
  aContainerStatus('c', {
    ...{ state: 'CONTAINER_EXITED', exitCode: 1, reason: 'Error', logPath: '/logs/0.log' },
    mounts: [mounted('/pods/etc-hosts', '/etc/hosts'), mounted(FILE, '/dev/termination-log')],
    annotations: {
      'io.kubernetes.container.terminationMessagePath': path,
      'io.kubernetes.container.terminationMessagePolicy': policy,
    },
    ...fields,
  });

describe('the termination message of a container', () => {
  it.each<{ case: string; status: ContainerStatus; words: object }>([
    { case: 'are in its file, or else in its log', status: ended(), words: { file: FILE, log: '/logs/0.log' } },
    { case: 'are not in its log unless that is wanted', status: ended({}, { policy: 'File' }), words: { file: FILE } },
    { case: 'are not in the log of a success', status: ended({ exitCode: 0 }), words: { file: FILE } },
    {
      case: 'are not in a log when it never ran',
      status: ended({ reason: 'ContainerCannotRun' }),
      words: { file: FILE },
    },
    { case: 'are not in a log that it does not have', status: ended({ logPath: '' }), words: { file: FILE } },
    { case: 'are only in its log without a file', status: ended({ mounts: [] }), words: { log: '/logs/0.log' } },
    { case: 'are only in its log without a path', status: ended({}, { path: '' }), words: { log: '/logs/0.log' } },
    {
      case: 'are in the file of a path that is not absolute',
      status: ended({}, { path: 'dev/termination-log', policy: 'File' }),
      words: { file: FILE },
    },
    { case: 'have not been said while it runs', status: ended({ state: 'CONTAINER_RUNNING' }), words: {} },
    { case: 'are unknown as its end is', status: ended({ state: 'CONTAINER_UNKNOWN' }), words: {} },
    { case: 'are nowhere without annotations', status: ended({ annotations: {} }), words: {} },
  ])('$case', ({ status, words }) => {
    expect(terminationFilesOf(status)).toEqual(words);
  });
});

describe('the text of a file', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  it.each([
    { case: 'is all of a short one', tail: bytes('bye ä\n'), text: 'bye ä\n' },
    { case: 'is nothing of an empty one', tail: bytes(''), text: '' },
    { case: 'starts where it was cut', tail: bytes('x'.repeat(MESSAGE_FILE_BYTES)), text: 'x'.repeat(4096) },
    {
      case: 'starts after a character that was cut',
      tail: bytes(`€${'x'.repeat(4094)}`).subarray(1),
      text: 'x'.repeat(4094),
    },
    {
      case: 'shows what is no text',
      tail: new Uint8Array([0x80, 0x41]),
      text: '\ufffdA',
    },
    { case: 'keeps a byte order mark', tail: bytes('\ufeffA'), text: '\ufeffA' },
  ])('$case', ({ tail, text }) => {
    expect(messageText(tail)).toBe(text);
  });
});

it.each([
  ['', '', ''],
  ['killed', '', 'killed'],
  ['', 'bye', 'bye'],
  ['killed', 'bye', 'killed: bye'],
])('joins %j and %j to %j', (ofRuntime, ofContainer, text) => {
  expect(joinMessages(ofRuntime, ofContainer)).toBe(text);
});

describe('the file that is not needed after its container', () => {
  it.each([
    { hostPath: '/root-dir/pods/uid/containers/main/0a1b2c3d', is: '/root-dir/pods/uid/containers/main/0a1b2c3d' },
    { hostPath: '/root-dir/pods/uid/etc-hosts', is: undefined },
    { hostPath: '/root-dir/pods/uid/volumes/kind/name/0a1b2c3d', is: undefined },
    { hostPath: '/root-dir/pods/uid/containers/main/0a1b2c3', is: undefined },
    { hostPath: '/root-dir/pods/uid/containers/main/0a1b2c3d/x', is: undefined },
    { hostPath: '/elsewhere/pods/uid/containers/main/0a1b2c3d', is: undefined },
    { hostPath: '/root-dir/pods/other/containers/main/0a1b2c3d', is: undefined },
    { hostPath: '/root-dir/pods/uid/containers/other/0a1b2c3d', is: undefined },
  ])('$hostPath: $is', ({ hostPath, is }) => {
    const labels = { 'io.kubernetes.pod.uid': 'uid' };
    const metadata = { name: 'main', attempt: 0 };
    const mounts = [mounted('/etc/hostname', '/x'), mounted(hostPath, '/anywhere')];
    expect(terminationLogOf({ labels, metadata, mounts }, '/root-dir')).toBe(is);
  });
});

describe('the termination messages that are no longer needed', () => {
  const known = new Map(['a', 'b', 'c'].map((id) => [id, `message of ${id}`]));
  const listing = (...ids: readonly string[]) => ids.map((id) => ({ items: [{ id } as RuntimeItem] }));

  it.each([
    { case: 'are those of containers that are gone', listed: ['b'], outdated: ['a', 'c'] },
    { case: 'are all if the runtime has nothing', listed: [], outdated: ['a', 'b', 'c'] },
    { case: 'are kept while there are no more messages than items', listed: ['b', 'x', 'y'], outdated: [] },
    { case: 'are those that remain with one item fewer', listed: ['b', 'x'], outdated: ['a', 'c'] },
  ])('the messages $case', ({ listed, outdated }) => {
    expect(outdatedMessages(known, listing(...listed))).toEqual(outdated);
  });

  it('the messages of an agent without any are none', () => expect(outdatedMessages(new Map(), [])).toEqual([]));
});
