import { defer, Observable, of, throwError } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  CheckpointContainerRequest,
  DeepPartial,
  ExecSyncRequest,
} from '../../../src/generated/runtime/v1/api.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { findRunningPod } from '../../../src/model/pleg/running-pods.js';
import { emptyPodStatus, type RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { type Pod, podRef } from '../../../src/model/pod/pod.js';
import type { FindRunning } from '../../../src/model/server/named-pod.js';
import { checkpointRoute, commandRoutes } from '../../../src/server/routes/container-commands.js';
import { checkpointContainer } from '../../../src/streams/server/checkpoint-container.js';
import { runCommand } from '../../../src/streams/server/run-command.js';
import { eventually } from '../../embedded/eventually.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer } from '../../support/a-runtime-status.js';
import { KubeletStage } from './kubelet-stage.js';

const bytes = (text: string): Buffer => Buffer.from(text);

/** Its status is that of a moment before, in which none of its containers ran. */
const pod: Pod = aPod({ spec: { containers: ['main', 'unable', 'ended'].map((name) => ({ name, image: 'i' })) } });
const status: RuntimePodStatus = {
  ...emptyPodStatus(podRef(pod)),
  containers: (['main', 'unable', 'ended'] as const).map((name) =>
    aContainer({ id: name, name, state: name === 'ended' ? 'exited' : 'running' }),
  ),
};
const MIRROR_UID = 'uid-of-its-mirror-pod';
const findRunning: FindRunning = (wanted) =>
  findRunningPod([status], { ...wanted, uid: wanted.uid === MIRROR_UID ? pod.metadata.uid : wanted.uid });

describe('a container over the kubelet API', () => {
  const stage = new KubeletStage();
  const commands: DeepPartial<ExecSyncRequest>[] = [];
  const checkpoints: DeepPartial<CheckpointContainerRequest>[] = [];
  let [made, waiting, ended] = [0, 0, 0];

  const execSync = (request: DeepPartial<ExecSyncRequest>) => {
    commands.push(request);
    if (request.containerId === 'unable') {
      return throwError(() => new CriError('unknown', 'ExecSync', 'no such executable'));
    }
    if (request.cmd?.[0] === 'wait') {
      return new Observable<never>(() => {
        waiting += 1;
        return () => (ended += 1);
      });
    }
    return of({ exitCode: request.cmd?.[0] === 'fail' ? 3 : 0, stdout: bytes('out\n'), stderr: bytes('err\n') });
  };

  beforeAll(async () => {
    stage.furnish();
    const checkpoint = checkpointContainer({
      ...{ pods: () => [pod], findRunning },
      runtime: {
        checkpointContainer: (request) =>
          defer(() => {
            checkpoints.push(request);
            if (request.containerId !== 'unable') return of({});
            throw new CriError('unimplemented', 'CheckpointContainer', 'unknown method CheckpointContainer');
          }),
      },
      directory: '/node/checkpoints',
      makeDirectory: () => defer(() => of((made += 1))),
      requestTimeoutSeconds: 120,
      now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    });
    const run = runCommand({ pods: () => [pod], findRunning, runtime: { execSync } });
    await stage.start({ debugPaths: [...commandRoutes(run), checkpointRoute(checkpoint)] });
  });
  afterAll(() => stage.dispose());

  const post = (path: string) => stage.ask({ path, method: 'POST', token: 'admin' });

  it('runs a command, with single spaces between its arguments', async () => {
    commands.length = 0;
    expect(await post('/run/default/web/main?cmd=a+b++c')).toMatchObject({
      status: 200,
      body: 'out\nerr\n',
      headers: { 'content-type': 'application/json' },
    });
    expect((await post('/run/default/web/uid-1/main?cmd=a')).status).toBe(200);
    expect((await post(`/run/default/web/${MIRROR_UID}/main?cmd=b`)).status).toBe(200);
    expect(commands).toEqual([
      { containerId: 'main', cmd: ['a', 'b', '', 'c'], timeout: 0n },
      { containerId: 'main', cmd: ['a'], timeout: 0n },
      { containerId: 'main', cmd: ['b'], timeout: 0n },
    ]);
  });

  it.each([
    ['/run/default/wep/main?cmd=a', 404, 'pod does not exist'],
    ['/run/default/web/other/main?cmd=a', 500, 'container not found ("main")'],
    ['/run/default/web/men?cmd=a', 500, 'container not found ("men")'],
    ['/run/default/web/ended?cmd=a', 500, 'container not found ("ended")'],
    ['/run/default/web/main?cmd=fail+now', 500, "command 'fail now' exited with 3: err\n"],
    ['/run/default/web/unable?cmd=a', 500, 'rpc error: code = Unknown desc = no such executable'],
    ['/checkpoint/default/wep/main', 404, 'pod does not exist'],
    ['/checkpoint/default/web/men', 404, 'container men does not exist'],
    ['/checkpoint/default/web/main?timeout=1&timeout=x', 404, 'cannot parse value of timeout parameter'],
    [
      '/checkpoint/default/web/main?timeout=-1',
      500,
      'checkpointing of default/web/main failed (CheckpointContainer requires the timeout value to be > 0)',
    ],
    ['/checkpoint/default/web/ended', 500, 'checkpointing of default/web/ended failed (container ended not found)'],
    [
      '/checkpoint/default/web/unable',
      500,
      'checkpointing of default/web/unable failed ' +
        '(rpc error: code = Unimplemented desc = unknown method CheckpointContainer)',
    ],
  ])('%s: %i %s', async (path, status, body) => {
    expect(await post(path)).toMatchObject({ status, body });
  });

  it('is written to a checkpoint, whose path is the reply', async () => {
    [checkpoints.length, made] = [0, 0];
    const location = '/node/checkpoints/checkpoint-web_default-main-2026-01-02T03:04:05Z.tar';
    for (const path of ['/checkpoint/default/web/main', '/checkpoint/default/web/main?timeout=5&timeout=300']) {
      expect(await post(path)).toMatchObject({
        status: 200,
        body: JSON.stringify({ items: [location] }),
        headers: { 'content-type': 'application/json' },
      });
    }
    expect(checkpoints).toEqual([
      { containerId: 'main', location, timeout: 120n },
      { containerId: 'main', location, timeout: 300n },
    ]);
    expect(made).toBe(2);
  });

  it('is for POST by clients with access alone', async () => {
    for (const [path, subresource] of [
      ['/run/default/web/main', 'proxy'],
      ['/checkpoint/default/web/main', 'checkpoint'],
    ] as const) {
      expect(await stage.ask({ path, token: 'admin' })).toMatchObject({ status: 405, headers: { allow: 'POST' } });
      expect(await stage.ask({ path, method: 'POST', token: 'guest' })).toMatchObject({
        status: 403,
        body: `Forbidden (user=guest, verb=create, resource=nodes, subresource(s)=[${subresource}])\n`,
      });
    }
  });

  it('runs ten commands at a time, which end with their clients', async () => {
    const left = new AbortController();
    const { cert, key } = stage.authority.pair('/CN=admin');
    const asked = Array.from({ length: 10 }, () =>
      stage
        .ask({ path: '/run/default/web/main?cmd=wait', method: 'POST', cert, key, signal: left.signal })
        .catch((error: Error) => error.name),
    );
    await eventually('ten commands run', () => waiting === 10);
    expect(await post('/run/default/web/main?cmd=a')).toMatchObject({
      status: 429,
      body: 'too many commands are running already',
    });
    left.abort();
    expect(await Promise.all(asked)).toEqual(Array(10).fill('AbortError'));
    await eventually('they have ended', () => ended === 10);
    expect((await post('/run/default/web/main?cmd=a')).status).toBe(200);
  });
});
