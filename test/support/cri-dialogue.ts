import type { Observable } from 'rxjs';
import type { ContainerConfig, ContainerEventResponse, DeepPartial } from '../../src/generated/runtime/v1/api.js';
import { CriError } from '../../src/model/cri/cri-error.js';
import type { ImageService } from '../../src/streams/ports/image-service.js';
import type { RuntimeService } from '../../src/streams/ports/runtime-service.js';

/** One side of a dialogue: a runtime, and how to wait for it. */
export interface CriSide {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** Resolves with the answer. Errors: that of the call. */
  readonly answer: <T>(call$: Observable<T>) => Promise<T>;
  /** Listens from now on. */
  readonly listen: (event$: Observable<ContainerEventResponse>) => readonly ContainerEventResponse[];
  /** Resolves as soon as `check` does not throw. */
  readonly eventually: (what: string, check: () => Promise<true>) => Promise<unknown>;
  /** An image that is there and has a shell. */
  readonly image: string;
  /** There is such a folder. */
  readonly logDirectory: string;
}

/** Ends at once when it is asked to. */
const WAITS = "trap 'exit 7' TERM; while :; do sleep 2147483 & wait $!; done";
const HANGS = "trap '' TERM; while :; do sleep 2147483 & wait $!; done";

/** By the name of the container: how each behaves, for a runtime that takes this instead of running a shell. */
export const DIALOGUE_BEHAVIOURS = {
  waits: [{ onStop: { kind: 'exits', afterMs: 10, exitCode: 7 } }],
  hangs: [{ onStop: { kind: 'hangs' } }],
  ends: [{ exitsAfterMs: 300, exitCode: 3 }],
  completes: [{ exitsAfterMs: 300 }],
  'cannot-start': [{ startError: 'exec: "/does/not/exist": no such file or directory' }],
} as const;

export const DIALOGUE_COMMANDS = [
  { contains: 'exit 5', exitCode: 5 },
  { contains: 'sleep 60', takesMs: 60_000 },
  { contains: 'echo hello', output: 'hello\n' },
];

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  waits: ['sh', '-c', WAITS],
  hangs: ['sh', '-c', HANGS],
  ends: ['sh', '-c', 'sleep 0.3; exit 3'],
  completes: ['sleep', '0.3'],
  'cannot-start': ['/does/not/exist'],
};

/**
 * Talks to a runtime about everything that the agent relies on, and reports how it went: one line for each question, without ids, times
 * and wordings.
 */
export const criDialogue = async (side: CriSide): Promise<readonly string[]> => {
  const { runtime, images, answer, eventually, image, logDirectory } = side;
  const lines: string[] = [];
  const names = new Map<string, string>();
  const report = (question: string, said: unknown): void => {
    let line = `${question}: ${JSON.stringify(said, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))}`;
    for (const [id, name] of names) line = line.replaceAll(id, name);
    lines.push(line);
  };
  /** What it says, or the code of its error. */
  const ask = async <T>(
    question: string,
    call$: Observable<T>,
    look: (said: T) => unknown = () => 'ok',
  ): Promise<T | undefined> => {
    try {
      const said = await answer(call$);
      report(question, look(said));
      return said;
    } catch (error) {
      report(question, error instanceof CriError ? `error ${error.code}` : String(error));
      return undefined;
    }
  };
  const events = side.listen(runtime.containerEvents());

  const sandboxConfig = (attempt: number, network: 'POD' | 'NODE' = 'POD', name = 'web') => ({
    metadata: { name, namespace: 'talk', uid: `uid-${name}`, attempt },
    labels: { talk: name },
    annotations: { note: 'kept' },
    logDirectory,
    linux: { securityContext: { namespaceOptions: { network, pid: 'CONTAINER' as const, ipc: 'POD' as const } } },
  });
  const sandbox = async (called: string, attempt: number, network?: 'POD' | 'NODE', pod?: string) => {
    const config = sandboxConfig(attempt, network, pod);
    const made = await ask(`run sandbox ${called}`, runtime.runPodSandbox({ config }));
    if (made) names.set(made.podSandboxId, called);
    return made?.podSandboxId ?? '';
  };
  const look = (called: string, podSandboxId: string) =>
    ask(`sandbox ${called}`, runtime.podSandboxStatus({ podSandboxId }), ({ status }) => {
      const { metadata, state, network, labels, annotations, linux, runtimeHandler } = status!;
      const ip = network?.ip === '' ? 'none' : 'one';
      return { metadata, state, ip, labels, annotations, namespaces: linux?.namespaces?.options, runtimeHandler };
    });
  const config = (name: string, attempt: number, wanted = image): DeepPartial<ContainerConfig> => ({
    metadata: { name, attempt },
    image: { image: wanted, userSpecifiedImage: 'as-the-user-says' },
    command: [...(COMMANDS[name] ?? COMMANDS.waits!)],
    labels: { talk: name },
    annotations: { note: 'kept' },
    logPath: `${name}-${attempt}.log`,
    linux: { securityContext: { namespaceOptions: { network: 'POD', pid: 'CONTAINER', ipc: 'POD' } } },
  });
  const create = async (podSandboxId: string, name: string, attempt = 0, wanted?: string) => {
    const request = { podSandboxId, config: config(name, attempt, wanted), sandboxConfig: sandboxConfig(0) };
    const made = await ask(`create ${name} ${attempt}`, runtime.createContainer(request));
    if (made) names.set(made.containerId, `${name}-${attempt}`);
    return made?.containerId ?? '';
  };
  const start = (called: string, containerId: string) =>
    ask(`start ${called}`, runtime.startContainer({ containerId }));
  const status = (called: string, containerId: string) =>
    ask(`status ${called}`, runtime.containerStatus({ containerId }), (said) => {
      const { metadata, state, exitCode, reason, message, labels, annotations, logPath } = said.status!;
      const { createdAt, startedAt, finishedAt, image: spec, imageRef, mounts } = said.status!;
      return {
        ...{ metadata, state, exitCode, reason, hasMessage: message !== '', labels, annotations, mounts },
        logPath: logPath.replace(logDirectory, '<logs>'),
        times: [createdAt > 0n, startedAt > 0n && startedAt >= createdAt, finishedAt > 0n && finishedAt >= startedAt],
        image: [spec?.image === image, /sha256:/.test(imageRef)],
      };
    });
  const ended = (containerId: string) =>
    eventually('it has ended', async () => {
      const said = await answer(runtime.containerStatus({ containerId }));
      if (said.status?.state !== 'CONTAINER_EXITED') throw new Error(`it is ${said.status?.state}`);
      return true;
    });
  const exec = (question: string, containerId: string, script: string, timeout = 10n) =>
    ask(question, runtime.execSync({ containerId, cmd: ['sh', '-c', script], timeout }), ({ exitCode, stdout }) => [
      exitCode,
      new TextDecoder().decode(stdout),
    ]);
  const list = (question: string, filter: object) =>
    ask(question, runtime.listContainers({ filter }), ({ containers }) =>
      containers.map(({ id, state, metadata }) => [names.get(id), state, metadata?.name].join(' ')).sort(),
    );

  // No message reports that the stream of events is open.
  let tries = 0;
  await eventually('events come', async () => {
    const config = sandboxConfig(tries++, 'POD', 'first');
    const { podSandboxId } = await answer(runtime.runPodSandbox({ config }));
    await answer(runtime.removePodSandbox({ podSandboxId }));
    if (events.length === 0) throw new Error('there is none yet');
    return true;
  });

  // Sandboxes
  const one = await sandbox('sandbox-1', 0);
  await sandbox('sandbox-1 again', 0);
  await look('sandbox-1', one);
  await ask('unknown sandbox', runtime.podSandboxStatus({ podSandboxId: 'unknown' }));

  // Containers that are made, run, and end
  await create('unknown', 'waits');
  await create(one, 'waits', 0, 'nobody/has:this');
  const waits = await create(one, 'waits');
  await create(one, 'waits');
  await status('waits, created', waits);
  await ask('stop what has not started', runtime.stopContainer({ containerId: waits, timeout: 5n }));
  await exec('exec in what has not started', waits, 'true');
  await ask('reopen the log of what has not started', runtime.reopenContainerLog({ containerId: waits }));
  await start('waits', waits);
  await start('waits again', waits);
  await status('waits, running', waits);
  await exec('exec true', waits, 'true');
  await exec('exec exit 5', waits, 'exit 5');
  await exec('exec echo', waits, 'echo hello');
  await exec('exec too long', waits, 'sleep 60', 1n);
  await exec('exec in no container', 'unknown', 'true');
  await ask('reopen the log', runtime.reopenContainerLog({ containerId: waits }));
  await ask('reopen the log of no container', runtime.reopenContainerLog({ containerId: 'unknown' }));
  const ends = await create(one, 'ends');
  await start('ends', ends);
  await ended(ends);
  await status('ends', ends);
  const completes = await create(one, 'completes');
  await start('completes', completes);
  await ended(completes);
  await status('completes', completes);
  const broken = await create(one, 'cannot-start');
  await start('cannot-start', broken);
  await status('cannot-start', broken);
  await start('ends again', ends);
  await exec('exec in what has ended', ends, 'true');
  await ask('stop what has ended', runtime.stopContainer({ containerId: ends, timeout: 5n }));
  await ask('reopen the log of what has ended', runtime.reopenContainerLog({ containerId: ends }));

  // Lists
  await list('list the running', { state: { state: 'CONTAINER_RUNNING' } });
  await list('list by label', { labelSelector: { talk: 'ends' } });
  await list('list by sandbox and state', { podSandboxId: one, state: { state: 'CONTAINER_EXITED' } });
  await list('list no container', { id: 'unknown' });

  // Stopping
  await ask('stop waits', runtime.stopContainer({ containerId: waits, timeout: 60n }));
  await status('waits, stopped', waits);
  const hangs = await create(one, 'hangs');
  await start('hangs', hangs);
  await ask('stop hangs', runtime.stopContainer({ containerId: hangs, timeout: 1n }));
  await status('hangs, killed', hangs);
  await ask('stop no container', runtime.stopContainer({ containerId: 'unknown', timeout: 1n }));

  // Removing
  await ask('remove what has ended', runtime.removeContainer({ containerId: ends }));
  await status('ends, removed', ends);
  await ask('remove it again', runtime.removeContainer({ containerId: ends }));
  await create(one, 'ends');
  const running = await create(one, 'waits', 1);
  await start('waits-1', running);
  await ask('remove what runs', runtime.removeContainer({ containerId: running }));
  await status('waits-1, removed', running);

  // A second sandbox of the same pod
  const left = await create(one, 'waits', 2);
  await start('waits-2', left);
  const unstarted = await create(one, 'completes', 1);
  const two = await sandbox('sandbox-2', 1);
  await create(two, 'waits', 2);
  await ask('stop sandbox-1', runtime.stopPodSandbox({ podSandboxId: one }));
  await status('waits-2, whose sandbox has stopped', left);
  await look('sandbox-1, stopped', one);
  await start('completes-1, whose sandbox has stopped', unstarted);
  await status('completes-1, whose sandbox has stopped', unstarted);
  await ask('stop sandbox-1 again', runtime.stopPodSandbox({ podSandboxId: one }));
  await ask(
    'list sandboxes that are ready',
    runtime.listPodSandbox({ filter: { state: { state: 'SANDBOX_READY' } } }),
    (said) => said.items.map(({ id, metadata }) => [id, metadata?.attempt]),
  );
  const inTwo = await create(two, 'waits', 3);
  await start('waits-3', inTwo);
  await ask('remove sandbox-2, which runs', runtime.removePodSandbox({ podSandboxId: two }));
  await status('waits-3, whose sandbox was removed', inTwo);
  // One is left for it: in which order a sandbox takes several along is not said.
  for (const [id, name] of [...names]) {
    if (name.startsWith('sandbox') || id === left) continue;
    await ask(`remove ${name}`, runtime.removeContainer({ containerId: id }));
  }
  await ask('remove sandbox-1', runtime.removePodSandbox({ podSandboxId: one }));
  await ask('remove sandbox-1 again', runtime.removePodSandbox({ podSandboxId: one }));
  await ask('stop sandbox-1, removed', runtime.stopPodSandbox({ podSandboxId: one }));
  await list('list what is left', {});
  const again = await sandbox('sandbox-1, with the name of the removed one', 0);
  await ask('remove it', runtime.removePodSandbox({ podSandboxId: again }));

  // On the network of the node
  const host = await sandbox('sandbox on the node', 0, 'NODE', 'host');
  await look('sandbox on the node', host);
  await ask('stop it', runtime.stopPodSandbox({ podSandboxId: host }));
  await ask('remove it', runtime.removePodSandbox({ podSandboxId: host }));

  // Images
  await ask('image that is there', images.imageStatus({ image: { image } }), (said) => said.image !== undefined);
  await ask(
    'image that is not',
    images.imageStatus({ image: { image: 'nobody/has:this' } }),
    (said) => said.image === undefined,
  );
  await ask('remove an image that is not there', images.removeImage({ image: { image: 'nobody/has:this' } }));
  await ask('where images are', images.imageFsInfo({}), (said) => said.imageFilesystems.length > 0);

  await eventually('every event is there', async () => {
    const last = events.at(-1);
    if (last?.containerId !== host || last.containerEventType !== 'CONTAINER_DELETED_EVENT') throw new Error('not yet');
    return true;
  });
  for (const { containerId, containerEventType, podSandboxStatus, containersStatuses } of events) {
    if (!names.has(containerId)) continue;
    report(`event ${containerEventType}`, {
      of: containerId,
      sandbox: podSandboxStatus?.state ?? 'none',
      containers: containersStatuses.map(({ id, state }) => `${names.get(id)} ${state}`).sort(),
    });
  }
  return lines;
};
