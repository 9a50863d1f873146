import { catchError, delay, map, NEVER, type Observable, of, tap, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ImageStatusResponse } from '../../../src/generated/runtime/v1/api.js';
import { CriError } from '../../../src/model/cri-error.js';
import type { Container } from '../../../src/model/pod.js';
import { ContainerSyncError } from '../../../src/model/sync-error.js';
import { ensureImage, type ImagePulls } from '../../../src/streams/pod-sync/ensure-image.js';
import { newBackOffs } from '../../../src/streams/pod-sync/back-offs.js';
import { aPod } from '../../support/a-pod.js';
import { syncStage } from '../../support/sync-context.js';
import { inTurn, marbles } from '../marbles.js';

const SECOND = 1_000;
const present = {
  image: { id: 'sha256:1', uid: { value: 5n }, username: '' },
  info: {},
} as unknown as ImageStatusResponse;
const absent = { image: undefined, info: {} } as unknown as ImageStatusResponse;
const container = (imagePullPolicy: string, image = 'app:1'): Container => ({ name: 'main', image, imagePullPolicy });

interface World {
  readonly inspect$?: Observable<ImageStatusResponse>;
  readonly pull$?: Observable<unknown>;
  readonly pulls?: ImagePulls;
  readonly signal?: AbortSignal;
}

/** One look after the image of `main`: its id, or `reason: message`. */
const stageOf = (
  scheduler: Parameters<typeof syncStage>[1],
  { inspect$ = of(present), pull$ = NEVER, pulls = newBackOffs().pulls, signal }: World,
) => {
  const asked: string[] = [];
  const stage = syncStage(aPod(), scheduler, {
    signal,
    images: {
      imageStatus: ({ image }) => inspect$.pipe(tap({ subscribe: () => asked.push(`inspect ${image?.image}`) })),
      pullImage: ({ image }) =>
        pull$.pipe(
          tap({ subscribe: () => asked.push(`pull ${image?.image}`) }),
          map(() => ({ imageRef: 'sha256:1' })),
        ),
    },
  });
  const ensure = (of$: Container): Observable<string> =>
    ensureImage(stage.context, of$, pulls).pipe(
      map(({ id }) => id),
      catchError((error: unknown) =>
        of(error instanceof ContainerSyncError ? `${error.reason}: ${error.message}` : String(error)),
      ),
    );
  return { ...stage, asked, ensure };
};

describe('an image', () => {
  it.each([
    {
      case: 'that is there is taken with IfNotPresent',
      policy: 'IfNotPresent',
      inspected: [present],
      result: 'sha256:1',
      asked: ['inspect app:1'],
      events: ['Pulled Container image "app:1" already present on machine and can be accessed by the pod'],
    },
    {
      case: 'that is there is taken with Never',
      policy: 'Never',
      inspected: [present],
      result: 'sha256:1',
      asked: ['inspect app:1'],
      events: ['Pulled Container image "app:1" already present on machine and can be accessed by the pod'],
    },
    {
      case: 'that is missing is pulled with IfNotPresent',
      policy: 'IfNotPresent',
      inspected: [absent, present],
      result: 'sha256:1',
      asked: ['inspect app:1', 'pull app:1', 'inspect app:1'],
      events: [
        'Pulling Pulling image "app:1"',
        'Pulled Successfully pulled image "app:1" in 0.000s (0.000s including waiting).',
      ],
    },
    {
      case: 'is always pulled with Always, without a look at what is there',
      policy: 'Always',
      inspected: [present],
      result: 'sha256:1',
      asked: ['pull app:1', 'inspect app:1'],
      events: [
        'Pulling Pulling image "app:1"',
        'Pulled Successfully pulled image "app:1" in 0.000s (0.000s including waiting).',
      ],
    },
    {
      case: 'that is missing is never pulled with Never',
      policy: 'Never',
      inspected: [absent],
      result: 'ErrImageNeverPull: Container image "app:1" is not present with pull policy of Never',
      asked: ['inspect app:1'],
      events: ['ErrImageNeverPull Container image "app:1" is not present with pull policy of Never'],
    },
    {
      case: 'that was pulled and is still missing is an error',
      policy: 'Always',
      inspected: [absent],
      result: 'ErrImagePull: image "app:1" was pulled but is not present',
      asked: ['pull app:1', 'inspect app:1'],
      events: [
        'Pulling Pulling image "app:1"',
        'Pulled Successfully pulled image "app:1" in 0.000s (0.000s including waiting).',
      ],
    },
  ])('$case', ({ policy, inspected, result, asked, events }) => {
    marbles(({ expectObservable, scheduler }) => {
      const inspect$ = inTurn(...inspected.map((found) => of(found)));
      const stage = stageOf(scheduler, { inspect$, pull$: of({}) });
      expectObservable(stage.ensure(container(policy))).toBe('(i|)', { i: result });
      scheduler.schedule(() => {
        expect(stage.asked).toEqual(asked);
        expect(stage.events).toEqual(events);
      }, 1);
    })();
  });

  it.each([
    ['app', 'app:latest'],
    ['registry:5000/app', 'registry:5000/app:latest'],
    ['registry:5000/app:2', 'registry:5000/app:2'],
    ['app@sha256:00', 'app@sha256:00'],
  ])('%s is asked for as %s', (image, reference) => {
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, {});
      expectObservable(stage.ensure(container('IfNotPresent', image))).toBe('(i|)', { i: 'sha256:1' });
      scheduler.schedule(() => expect(stage.asked).toEqual([`inspect ${reference}`]), 1);
    })();
  });

  it(
    'that cannot be looked at is said and not pulled',
    marbles(({ cold, expectObservable, scheduler }) => {
      const broken = cold<never>('--#', undefined, new CriError('unavailable', 'ImageStatus', 'the disk is gone'));
      const stage = stageOf(scheduler, { inspect$: broken });
      expectObservable(stage.ensure(container('IfNotPresent'))).toBe('--(e|)', {
        e: 'ImageInspectError: the disk is gone',
      });
      scheduler.schedule(() => {
        expect(stage.asked).toEqual(['inspect app:1']);
        expect(stage.events).toEqual(['InspectFailed Failed to inspect image "app:1": the disk is gone']);
      }, 5);
    }),
  );
});

describe('a pull', () => {
  it(
    'that fails waits 10 s, then twice as long each time up to 300 s; one that succeeds starts over',
    marbles(({ scheduler }) => {
      const pulls = newBackOffs().pulls;
      let isBroken = true;
      const stage = stageOf(scheduler, {
        pulls,
        inspect$: of(present),
        pull$: of(true).pipe(
          delay(0, scheduler),
          map(() => {
            if (isBroken) throw new Error('no such host');
            return {};
          }),
        ),
      });
      // Somebody looks every second, as a busy pod would.
      const pulledAt: number[] = [];
      const look = () =>
        stage.ensure(container('Always')).subscribe((result) => {
          if (result.startsWith('ErrImagePull') || result === 'sha256:1') pulledAt.push(scheduler.now() / SECOND);
        });
      for (let second = 0; second <= 1_600; second += 1) scheduler.schedule(look, second * SECOND);
      scheduler.schedule(() => {
        const gaps = pulledAt.slice(1).map((at, index) => at - pulledAt[index]!);
        expect(gaps).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
        isBroken = false;
      }, 1_500 * SECOND);
      // 1510 s is the next turn; it succeeds, and after it every look may pull.
      scheduler.schedule(() => {
        expect(pulledAt.slice(9, 12)).toEqual([1_510, 1_511, 1_512]);
        expect([pulls.backOff.size, pulls.failures.size]).toEqual([0, 0]);
      }, 1_600 * SECOND);
    }),
  );

  it(
    'that has to wait says so, with why the last one failed',
    marbles(({ scheduler, expectObservable }) => {
      const stage = stageOf(scheduler, { pull$: throwError(() => new CriError('other', 'PullImage', 'no such host')) });
      expectObservable(stage.ensure(container('Always'))).toBe('(e|)', { e: 'ErrImagePull: no such host' });
      scheduler.schedule(
        () =>
          stage.ensure(container('Always')).subscribe((result) => {
            expect(result).toBe('ImagePullBackOff: Back-off pulling image "app:1": ErrImagePull: no such host');
          }),
        SECOND,
      );
      scheduler.schedule(() => {
        expect(stage.asked).toEqual(['pull app:1']);
        expect(stage.events).toEqual([
          'Pulling Pulling image "app:1"',
          'Failed Failed to pull image "app:1": no such host',
          'BackOff Back-off pulling image "app:1"',
        ]);
        expect(stage.records.at(-1)).toMatchObject({
          kind: 'back-off',
          subject: 'image-pull',
          delayMs: 10 * SECOND,
          until: 10 * SECOND,
          step: 1,
          steps: 6,
        });
      }, 2 * SECOND);
    }),
  );

  it.each([
    [
      'RegistryUnavailable: 503',
      'RegistryUnavailable: image pull failed for app:1 because the registry is unavailable: 503',
    ],
    [
      'SignatureValidationFailed: no key',
      'SignatureValidationFailed: image pull failed for app:1 because the signature validation failed: no key',
    ],
  ])('that the runtime says failed with %s has a reason of its own', (text, result) => {
    marbles(({ scheduler, expectObservable }) => {
      const stage = stageOf(scheduler, { pull$: throwError(() => new CriError('other', 'PullImage', text)) });
      expectObservable(stage.ensure(container('Always'))).toBe('(e|)', { e: result });
    })();
  });

  it(
    'is given up at once when the pod has to stop, and counts as no failure',
    marbles(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const abort = new AbortController();
      const pull$ = cold<object>('----------(x|)');
      const pulls = newBackOffs().pulls;
      const stage = stageOf(scheduler, { pull$, pulls, signal: abort.signal });
      scheduler.schedule(() => abort.abort(), 4);
      expectObservable(stage.ensure(container('Always'))).toBe('----(e|)', {
        e: 'SyncCancelled: the run was cancelled by a newer update',
      });
      expectSubscriptions(pull$.subscriptions).toBe('^---!');
      scheduler.schedule(() => {
        expect(pulls.backOff.size).toBe(0);
        expect(stage.events).toEqual(['Pulling Pulling image "app:1"']);
      }, 20);
    }),
  );
});
