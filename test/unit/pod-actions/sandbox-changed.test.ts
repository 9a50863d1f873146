import { expect, it } from 'vitest';
import type { NamespaceMode, PodSandboxStatus } from '../../../src/generated/runtime/v1/api.js';
import { sandboxChanged } from '../../../src/model/pod-actions/sandbox-changed.js';
import { aPod, aRuntimePod, aSandbox } from '../pods.js';

const attempt = (n: number) => ({ name: 'p', namespace: 'default', uid: 'uid-1', attempt: n });
const onNetwork = (network: NamespaceMode) => ({
  linux: {
    namespaces: {
      options: { network, pid: 'POD' as const, ipc: 'POD' as const, targetId: '', usernsOptions: undefined },
    },
  },
});

it.each<
  [
    rule: string,
    hostNetwork: boolean,
    sandboxes: PodSandboxStatus[],
    verdict: { changed: boolean; attempt: number; sandboxId: string },
  ]
>([
  ['1: no sandbox at all', false, [], { changed: true, attempt: 0, sandboxId: '' }],
  [
    '2: more than one ready sandbox',
    false,
    [aSandbox({ id: 's2', metadata: attempt(1) }), aSandbox()],
    { changed: true, attempt: 2, sandboxId: 's2' },
  ],
  [
    '3: the newest sandbox is not ready',
    false,
    [aSandbox({ state: 'SANDBOX_NOTREADY', metadata: attempt(4) })],
    { changed: true, attempt: 5, sandboxId: 's1' },
  ],
  [
    '3: the newest sandbox is not ready, though an older one is',
    false,
    [aSandbox({ id: 's2', state: 'SANDBOX_NOTREADY', metadata: attempt(1) }), aSandbox()],
    { changed: true, attempt: 2, sandboxId: 's2' },
  ],
  ['4: now on the host network', true, [aSandbox()], { changed: true, attempt: 1, sandboxId: '' }],
  ['4: now on the pod network', false, [aSandbox(onNetwork('NODE'))], { changed: true, attempt: 1, sandboxId: '' }],
  [
    '5: on the pod network without an IP address',
    false,
    [aSandbox({ network: { ip: '', additionalIps: [] } })],
    { changed: true, attempt: 1, sandboxId: 's1' },
  ],
  [
    '6: the host network needs no IP address',
    true,
    [aSandbox({ ...onNetwork('NODE'), network: { ip: '', additionalIps: [] } })],
    { changed: false, attempt: 0, sandboxId: 's1' },
  ],
  [
    '6: no network message at all is fine',
    false,
    [aSandbox({ network: undefined })],
    { changed: false, attempt: 0, sandboxId: 's1' },
  ],
  [
    '6: ready beside an older one that is not',
    false,
    [aSandbox({ metadata: attempt(3) }), aSandbox({ id: 's0', state: 'SANDBOX_NOTREADY' })],
    { changed: false, attempt: 3, sandboxId: 's1' },
  ],
  [
    '6: a runtime that reports no namespaces uses the pod network',
    false,
    [aSandbox({ linux: undefined })],
    { changed: false, attempt: 0, sandboxId: 's1' },
  ],
])('%s', (_, hostNetwork, sandboxes, verdict) => {
  expect(sandboxChanged(aPod({ hostNetwork }), aRuntimePod([], sandboxes))).toMatchObject(verdict);
});
