import { expect, it } from 'vitest';
import { InstanceLedger } from '../../../src/tools/recording/incident/instance-ledger.js';

const STARTED_AT = 1_800_000_000_000;
/** In nanoseconds, as the runtime stamps: milliseconds after the recording began. */
const stamp = (ms: number): bigint => BigInt(STARTED_AT + ms) * 1_000_000n;

/** A container that started after 100 ms and ended after 400 ms, with the answer to its start and its status when they were read. */
const lifeOf = (answeredMs: number, seenMs: number): number | undefined => {
  const ledger = new InstanceLedger(STARTED_AT);
  const reply = (port: string, request: object, value: object, at: number, now: number): void =>
    ledger.replied({ port, args: [request], at }, value, now);
  const metadata = { uid: 'u', name: 'pod', namespace: 'default', attempt: 0 };
  reply('runtime.runPodSandbox', { config: { metadata } }, { podSandboxId: 's' }, 0, 10);
  reply(
    ...([
      'runtime.createContainer',
      { podSandboxId: 's', config: { metadata: { name: 'main', attempt: 0 } } },
    ] as const),
    ...([{ containerId: 'c' }, 20, 30] as const),
  );
  reply('runtime.startContainer', { containerId: 'c' }, {}, 50, answeredMs);
  const status = {
    ...{ id: 'c', state: 'CONTAINER_EXITED', exitCode: 1, reason: 'Error' },
    ...{ startedAt: stamp(100), finishedAt: stamp(400) },
  };
  reply('runtime.containerStatus', { containerId: 'c' }, { status }, seenMs - 5, seenMs);
  const [instance] = ledger.instances();
  return instance?.lifeMs;
};

it('lives as long as the runtime says, from the answer to its start', () => {
  expect(lifeOf(110, 450)).toBe(300);
});

it('has ended when the agent sees that it has, however late the answer to its start came', () => {
  expect(lifeOf(350, 450)).toBe(100);
});
