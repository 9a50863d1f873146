import type { DeepPartial, ExecSyncRequest, ExecSyncResponse } from '../../../generated/runtime/v1/api.js';
import { CriError } from '../../../model/cri/cri-error.js';
import type { CriCall } from '../../../streams/ports/runtime-service.js';
import type { InstanceBehaviour, ProbeName } from '../world/behaviour.js';
import { probeAnswer } from '../network/probe-answer.js';
import type { Answer } from './call-transport.js';
import type { SimulatedContainer } from './container.js';
import type { RuntimeParts } from './runtime-parts.js';

/** The caller of a command: a probe, or another one. */
export type ExecAsker = { readonly probe: ProbeName | undefined } | 'other';

interface CommandEnd {
  readonly afterMs: number;
  readonly exitCode: number;
  readonly output: string;
}

/** ExecSync of one caller: the effect of a command depends on its purpose. */
export const execCall = (parts: RuntimeParts, asker: ExecAsker): CriCall<ExecSyncRequest, ExecSyncResponse> =>
  parts.transport.unary('ExecSync', (request, answer) => {
    const container = parts.store.container('ExecSync', request.containerId);
    if (!container.isRunning) {
      const why = `failed to exec in container: container is in ${container.state} state`;
      throw new CriError('unknown', 'ExecSync', why);
    }
    run(parts, container, asker, request, answer);
  });

const run = (
  { world: { scheduler, daemon, tell } }: RuntimeParts,
  container: SimulatedContainer,
  asker: ExecAsker,
  { cmd = [], timeout = 0n }: DeepPartial<ExecSyncRequest>,
  answer: Answer<ExecSyncResponse>,
): void => {
  const timeoutMs = Number(timeout) * 1000 || Infinity;
  const command = cmd.join(' ');
  const { behaviour, startedAtMs = 0 } = container;
  const end =
    asker === 'other'
      ? commandEnd(behaviour, command)
      : probeEnd(behaviour, asker.probe, scheduler.now() - startedAtMs);

  const say = (ok: boolean): void => {
    container.whenExited.delete(killed);
    const which = asker === 'other' ? undefined : asker.probe;
    tell({ kind: 'asked', at: scheduler.now(), how: 'exec', ...(which && { which }), ok, ...container.told });
  };
  const finish = (exitCode: number, output: string): void => {
    say(exitCode === 0);
    answer.value({ stdout: bytes(output), stderr: bytes(''), exitCode });
  };
  const killed = (): void => {
    over.unsubscribe();
    finish(137, '');
  };
  const isLate = end === undefined || end.afterMs > timeoutMs;
  const overMs = isLate ? timeoutMs : end.afterMs;
  const act = (): void => {
    if (!isLate) return finish(end.exitCode, end.output);
    say(false);
    const why = `failed to exec in container: timeout ${timeoutMs / 1000}s exceeded: context deadline exceeded`;
    answer.error(new CriError('deadline-exceeded', 'ExecSync', why));
  };
  container.whenExited.add(killed);
  // A command that never ends is over when the container is.
  const over = daemon().schedule(act, Number.isFinite(overMs) ? overMs : 2 ** 40);
};

const probeEnd = (
  behaviour: InstanceBehaviour,
  which: ProbeName | undefined,
  sinceStartMs: number,
): CommandEnd | undefined => {
  const found = probeAnswer(behaviour, { kind: 'exec', which }, sinceStartMs);
  const afterMs = behaviour.answersAfterMs ?? 0;
  if (found === 'hangs') return undefined;
  return found === 'succeeds' ? { afterMs, exitCode: 0, output: '' } : { afterMs, exitCode: 1, output: 'not healthy' };
};

const commandEnd = ({ commands = [] }: InstanceBehaviour, command: string): CommandEnd => {
  const found = commands.find(({ contains }) => command.includes(contains));
  return { afterMs: found?.takesMs ?? 0, exitCode: found?.exitCode ?? 0, output: found?.output ?? '' };
};

const bytes = (text: string): Buffer => new TextEncoder().encode(text) as Buffer;
