import { existsSync } from 'node:fs';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { first, firstValueFrom, from, ignoreElements, merge } from 'rxjs';
import type { Extract } from 'tar-stream';
import { copyRequest, type CopyRequest, tarOperand, uploadPlace } from '../../model/server/copy-paths.js';
import type { RemoteEnd } from '../../model/server/remote-end.js';
import type { AgentPaths } from '../config/settings/agent-paths.js';
import { findContainer, type FoundContainer } from '../local/find-container.js';
import { remoteSession } from '../local/remote-session.js';
import { streamRequestPath } from '../local/stream-request.js';
import { readArchive, tarDownload } from '../local/tar-download.js';
import { tarUpload } from '../local/tar-upload.js';
import { pathsFor } from '../arguments/prepare-run.js';

/** The flags of `cp`, as commander returns them. */
export interface CopyFlags {
  readonly container?: string;
  readonly namespace?: string;
  /** Whether owners and modes are kept in the container; `--no-preserve` turns it off. */
  readonly preserve: boolean;
  readonly rootDir: string;
}

/**
 * Copies a file or folder from or to a container, by the program `tar` in it.
 *
 * Errors: no agent runs; there is no such pod, container or file; `tar` fails, or the container has none; a file could not be copied, as
 * a line to standard error names it.
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/cp/cp.go
 */
export const copyFiles = async (source: string, target: string, flags: CopyFlags): Promise<void> => {
  const request = copyRequest(source, target);
  if (request.kind === 'to-pod' && !existsSync(request.local)) {
    throw new Error(`${request.local} doesn't exist in local filesystem`);
  }
  const paths = pathsFor(flags.rootDir);
  const { pod, namespace = flags.namespace } = request.pod;
  const found = await findContainer(paths, { pod, namespace, container: flags.container });
  for (const note of found.notes) process.stderr.write(`${note}\n`);
  await (request.kind === 'from-pod' ? download(request, paths, found) : upload(request, paths, found, flags.preserve));
};

const warn = (line: string): void => void process.stderr.write(`${line}\n`);

/** The session of a command with these streams. */
const sessionOf = (
  { agentSocket: socketPath }: AgentPaths,
  { pod, container }: FoundContainer,
  command: readonly string[],
  streams: { readonly stdin?: Readable; readonly stdout: Writable; readonly stderr: Writable },
) => {
  const stdin = streams.stdin !== undefined;
  const path = streamRequestPath({ kind: 'exec', pod, container, command, stdin, tty: false });
  return remoteSession({ socketPath, path, ...streams });
};

/** The stream of the package has the methods of one of Node, but not its type. */
const asWritable = (archive: Extract): Writable => archive as unknown as Writable;

const check = (end: RemoteEnd): void => {
  if (end.kind === 'failed') throw new Error(end.message);
  if (end.exitCode !== 0) throw new Error(`command terminated with exit code ${end.exitCode}`);
};

/** The files that could not be copied. Each is reported at once, and all of them fail the copy at its end. */
class Failures {
  private count = 0;

  readonly fail = (line: string): void => {
    this.count += 1;
    warn(line);
  };

  check(): void {
    if (this.count > 0) throw new Error(`${this.count} ${this.count === 1 ? 'file' : 'files'} could not be copied`);
  }
}

const download = async ({ pod, local }: CopyRequest, paths: AgentPaths, found: FoundContainer): Promise<void> => {
  const archive = readArchive();
  const failures = new Failures();
  const written = tarDownload(archive, { copied: pod.path, target: local, warn, fail: failures.fail });
  // A failure of the disk ends the session.
  const session$ = merge(
    sessionOf(paths, found, ['tar', 'cf', '-', tarOperand(pod.path)], {
      stdout: asWritable(archive),
      stderr: process.stderr,
    }),
    from(written).pipe(ignoreElements()),
  );
  try {
    const end = await firstValueFrom(session$.pipe(first()));
    asWritable(archive).end();
    // A `tar` that has failed with one file may have sent the others.
    const [result] = await Promise.allSettled([written]);
    check(end);
    if (result.status === 'rejected') throw result.reason;
    failures.check();
  } finally {
    archive.destroy(new Error('the copy has ended'));
    await written.catch(() => undefined);
  }
};

const upload = async (
  { pod, local }: CopyRequest,
  paths: AgentPaths,
  found: FoundContainer,
  preserve: boolean,
): Promise<void> => {
  const nowhere = { stdout: new PassThrough().resume(), stderr: new PassThrough().resume() };
  const folderTest = await firstValueFrom(sessionOf(paths, found, ['test', '-d', pod.path], nowhere));
  const isFolder = folderTest.kind === 'ended' && folderTest.exitCode === 0;
  const { folder, name, isThere } = uploadPlace(pod.path, local, isFolder);
  const failures = new Failures();
  const folders = !preserve ? 'empty' : isThere ? 'inner' : 'all';
  const archive = tarUpload({ path: local, name, folders, warn, fail: failures.fail });
  const failed = new Promise<never>((_, reject) => archive.once('error', reject));
  const flags = preserve ? [] : ['--no-same-permissions', '--no-same-owner'];
  const command = ['tar', ...flags, '-xmf', '-', '-C', folder];
  const outputs = { stdout: process.stdout, stderr: process.stderr };
  try {
    const session$ = merge(sessionOf(paths, found, command, { stdin: archive, ...outputs }), from(failed));
    check(await firstValueFrom(session$));
    failures.check();
  } finally {
    failed.catch(() => undefined);
    archive.destroy();
  }
};
