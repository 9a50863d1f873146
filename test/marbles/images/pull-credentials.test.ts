import { concat, EMPTY, NEVER, of, tap, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { PullSecret } from '../../../src/model/images/pull-secret.js';
import { ledgerFor, noLedger, type PullLedger, PullNotRecorded } from '../../../src/streams/images/pull-ledger.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import type { ImageService } from '../../../src/streams/ports/image-service.js';
import { noMetrics } from '../../../src/streams/ports/metrics.js';
import { aPod } from '../../support/a-pod.js';
import { container, imageStage } from '../../support/image-stage.js';
import { memoryPullRecords } from '../../support/memory-pull-records.js';
import { only } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

describe('passwords for a pull', () => {
  const own = { username: 'own', password: 'p' };
  const node = { username: 'node', password: 'q' };
  const secret = (name: string, text: string): PullSecret => ({
    ...{ uid: name, namespace: 'default', name },
    ...{ type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': text } },
  });
  const wanting = (...names: string[]) => aPod({ spec: { imagePullSecrets: names.map((name) => ({ name })) } });
  const wrong = () => throwError(() => new CriError('unknown', 'PullImage', 'wrong password'));
  const image = 'r.example.com/app:1';

  it(
    'are tried one after the other until one works: those of the pod, then those of the node',
    marbles(({ scheduler, expectObservable }) => {
      const stage = imageStage(scheduler, {
        pod: wanting('mine'),
        pull$: (auth) => (auth?.username === 'node' ? of({}) : wrong()),
        credentials: {
          pullSecrets: () => of([secret('mine', JSON.stringify({ auths: { 'r.example.com': own } }))]),
          nodeCredentials: (repository) => of(repository === 'r.example.com/app' ? [node, own] : []),
        },
      });
      expectObservable(stage.ensure(container('Always', image))).toBe('(i|)', { i: 'sha256:1' });
      scheduler.schedule(() => {
        expect(stage.asked).toEqual([`pull ${image} as own`, `pull ${image} as node`, `inspect ${image}`]);
        expect(stage.events.map((event) => event.split(' ')[0])).toEqual(['Pulling', 'Pulled']);
        expect(stage.records.map((entry) => entry.kind === 'call' && entry.error)).toEqual([
          'wrong password',
          undefined,
        ]);
        expect(JSON.stringify(stage.records)).not.toMatch(/"(own|node|p|q)"/);
      }, 1);
    }),
  );

  it(
    'that all fail are reported together, and there is no anonymous pull then',
    marbles(({ scheduler, expectObservable }) => {
      const stage = imageStage(scheduler, {
        pull$: (auth) => throwError(() => new CriError('unknown', 'PullImage', `not as ${auth?.username}`)),
        credentials: { nodeCredentials: () => of([own, node]) },
      });
      expectObservable(stage.ensure(container('Always', image))).toBe('(e|)', {
        e: 'ErrImagePull: [not as own, not as node]',
      });
      scheduler.schedule(() => {
        expect(stage.asked).toEqual([`pull ${image} as own`, `pull ${image} as node`]);
        expect(stage.events.at(-1)).toBe(`Failed Failed to pull image "${image}": [not as own, not as node]`);
      }, 1);
    }),
  );

  it(
    'of missing secrets are left out, without an event, and the pull goes on with those of the node',
    marbles(({ scheduler, expectObservable }) => {
      const stage = imageStage(scheduler, {
        pod: wanting('one', 'mine', 'two', ''),
        pull$: of({}),
        credentials: { pullSecrets: () => of([secret('mine', '{}')]), nodeCredentials: () => of([node]) },
      });
      expectObservable(stage.ensure(container('Always', image))).toBe('(i|)', { i: 'sha256:1' });
      scheduler.schedule(() => {
        expect(stage.asked[0]).toBe(`pull ${image} as node`);
        expect(stage.events.map((event) => event.split(' ')[0])).toEqual(['Pulling', 'Pulled']);
      }, 1);
    }),
  );

  it(
    'in a secret that cannot be read fail the pull before it begins',
    marbles(({ scheduler, expectObservable }) => {
      const state = kubeletState();
      const stage = imageStage(scheduler, {
        pulls: state.pulls,
        pod: wanting('mine'),
        credentials: { pullSecrets: () => of([secret('mine', '{"auths":{"r":{"auth":"!"}}}')]) },
      });
      expectObservable(stage.ensure(container('Always', image))).toBe('(e|)', {
        e: 'ErrImagePull: secret default/mine: .dockerconfigjson: auths["r"].auth: is not base64',
      });
      scheduler.schedule(() => expect([stage.asked, state.value.backOffs.pulls.size]).toEqual([[], 0]), 1);
    }),
  );

  it(
    'are not looked for while a pull has to wait, nor for an image that is there',
    marbles(({ scheduler, expectObservable }) => {
      let looked = 0;
      const stage = imageStage(scheduler, {
        pull$: wrong,
        credentials: { nodeCredentials: () => concat(of([]), EMPTY).pipe(tap({ subscribe: () => (looked += 1) })) },
      });
      expectObservable(stage.ensure(container('Always'))).toBe('(e|)', { e: 'ErrImagePull: wrong password' });
      expectObservable(stage.ensure(container('Always')), '-^').toBe('-(e|)', {
        e: 'waits: ImagePullBackOff: Back-off pulling image "app:1": ErrImagePull: wrong password',
      });
      expectObservable(stage.ensure(container('IfNotPresent'))).toBe('(i|)', { i: 'sha256:1' });
      scheduler.schedule(() => expect(looked).toBe(1), 2);
    }),
  );
});

describe('an image that is there, but perhaps not for this pod', () => {
  const refusing: PullLedger = { ...noLedger, isOn: true, mayHave: () => of(false) };

  it(
    'is pulled with IfNotPresent, and what has come of it is remembered',
    marbles(({ scheduler, expectObservable }) => {
      const remembered: string[] = [];
      const remember: PullLedger['remember'] = (image) => (source) =>
        source.pipe(
          tap({
            subscribe: () => remembered.push(`begin ${image}`),
            next: (result) =>
              remembered.push('imageRef' in result ? `${result.imageRef} by ${result.credential?.username}` : 'waits'),
          }),
        );
      const stage = imageStage(scheduler, {
        pull$: of({}),
        pullLedger: { ...refusing, remember },
        credentials: { nodeCredentials: () => of([{ username: 'node', password: 'q' }]) },
      });
      expectObservable(stage.ensure(container('IfNotPresent'))).toBe('(i|)', { i: 'sha256:1' });
      scheduler.schedule(() => {
        expect(stage.asked).toEqual(['inspect app:1', 'pull app:1 as node', 'inspect app:1']);
        expect(remembered).toEqual(['begin app:1', 'sha256:1 by node']);
      }, 1);
    }),
  );

  it(
    'counts as absent with Never',
    marbles(({ scheduler, expectObservable }) => {
      const stage = imageStage(scheduler, { pullLedger: refusing });
      const message = 'Container image "app:1" is not present with pull policy of Never';
      expectObservable(stage.ensure(container('Never'))).toBe('(e|)', { e: `ErrImageNeverPull: ${message}` });
      scheduler.schedule(() => expect(stage.events).toEqual([`ErrImageNeverPull ${message}`]), 1);
    }),
  );

  it(
    'is said to be there, and no more, where nothing is verified',
    marbles(({ scheduler, expectObservable }) => {
      const stage = imageStage(scheduler, { pullLedger: noLedger });
      expectObservable(stage.ensure(container('Never'))).toBe('(i|)', { i: 'sha256:1' });
      const event = 'Pulled Container image "app:1" already present on machine';
      scheduler.schedule(() => expect(stage.events).toEqual([event]), 1);
    }),
  );

  it(
    'is not pulled when that cannot be remembered, which is no failure of the registry',
    marbles(({ scheduler, expectObservable }) => {
      const state = kubeletState();
      const remember = () => () => throwError(() => new PullNotRecorded('disk full'));
      const stage = imageStage(scheduler, { pulls: state.pulls, pullLedger: { ...refusing, remember } });
      expectObservable(stage.ensure(container('Always'))).toBe('(e|)', { e: 'ErrImagePull: disk full' });
      scheduler.schedule(() => expect([stage.asked, state.value.backOffs.pulls.size]).toEqual([[], 0]), 1);
    }),
  );

  it(
    'is noted to be pulled only until its pull was given up',
    marbles(({ scheduler, expectObservable }) => {
      const records = memoryPullRecords();
      const abort = new AbortController();
      const ports = { pullRecords: records, images: only<ImageService>({}), scheduler };
      const rest = { metrics: noMetrics, log: { warn: () => undefined }, wallClock: () => scheduler.now() };
      const ledger = ledgerFor({ ...ports, ...rest });
      const stage = imageStage(scheduler, { pullLedger: ledger, pull$: NEVER, signal: abort.signal });
      scheduler.schedule(() => abort.abort(), 3);
      expectObservable(stage.ensure(container('Always'))).toBe('---(e|)', {
        e: 'SyncCancelled: the run was cancelled by a newer update',
      });
      scheduler.schedule(() => expect(records.changes).toEqual(['begin app:1', 'end app:1']), 4);
    }),
  );
});
