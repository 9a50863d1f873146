import { delay, map, merge, of, switchMap, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { noLedger } from '../../../src/streams/images/pull-ledger.js';
import { pullQueue } from '../../../src/streams/images/pull-queue.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { absent, container, imageStage, present } from '../../support/image-stage.js';
import { expectLanes } from '../lanes.js';
import { inTurn, marbles } from '../marbles.js';

const SECOND = 1_000;

describe('an image', () => {
  it.each([
    {
      case: 'that is there is taken with IfNotPresent',
      policy: 'IfNotPresent',
      inspected: [present],
      result: 'sha256:1',
      asked: ['inspect app:1'],
      observed: ['imageEnsured IfNotPresent true false'],
      events: ['Pulled Container image "app:1" already present on machine and can be accessed by the pod'],
    },
    {
      case: 'that is there is taken with Never',
      policy: 'Never',
      inspected: [present],
      result: 'sha256:1',
      asked: ['inspect app:1'],
      observed: ['imageEnsured Never true false'],
      events: ['Pulled Container image "app:1" already present on machine and can be accessed by the pod'],
    },
    {
      case: 'that is missing is pulled with IfNotPresent',
      policy: 'IfNotPresent',
      inspected: [absent, present],
      result: 'sha256:1',
      asked: ['inspect app:1', 'pull app:1', 'inspect app:1'],
      observed: ['imageEnsured IfNotPresent false true', 'imagePulled 0 4096'],
      events: [
        'Pulling Pulling image "app:1"',
        'Pulled Successfully pulled image "app:1" in 0s (0s including waiting). Image size: 4096 bytes.',
      ],
    },
    {
      case: 'is always pulled with Always, without a read of the present image',
      policy: 'Always',
      inspected: [present],
      result: 'sha256:1',
      asked: ['pull app:1', 'inspect app:1'],
      observed: ['imageEnsured Always  true', 'imagePulled 0 4096'],
      events: [
        'Pulling Pulling image "app:1"',
        'Pulled Successfully pulled image "app:1" in 0s (0s including waiting). Image size: 4096 bytes.',
      ],
    },
    {
      case: 'that is missing is never pulled with Never',
      policy: 'Never',
      inspected: [absent],
      result: 'ErrImageNeverPull: Container image "app:1" is not present with pull policy of Never',
      asked: ['inspect app:1'],
      observed: ['imageEnsured Never false '],
      events: ['ErrImageNeverPull Container image "app:1" is not present with pull policy of Never'],
    },
    {
      case: 'that was pulled and is still missing is an error',
      policy: 'Always',
      inspected: [absent],
      result: 'ErrImagePull: image "app:1" was pulled but is not present',
      asked: ['pull app:1', 'inspect app:1'],
      observed: ['imageEnsured Always  true', 'imagePulled 0 0'],
      events: [
        'Pulling Pulling image "app:1"',
        'Pulled Successfully pulled image "app:1" in 0s (0s including waiting). Image size: 0 bytes.',
      ],
    },
  ])('$case', ({ policy, inspected, result, asked, observed, events }) => {
    marbles(({ expectObservable, scheduler }) => {
      const inspect$ = inTurn(...inspected.map((found) => of(found)));
      const stage = imageStage(scheduler, { inspect$, pull$: of({}) });
      expectObservable(stage.ensure(container(policy))).toBe('(i|)', { i: result });
      scheduler.schedule(() => {
        expect(stage.asked).toEqual(asked);
        expect(stage.events).toEqual(events);
        expect(stage.observed).toEqual(observed);
      }, 1);
    })();
  });

  it.each([
    ['app', 'app:latest'],
    ['registry:5000/app', 'registry:5000/app:latest'],
    ['registry:5000/app:2', 'registry:5000/app:2'],
    [`app@sha256:${'0'.repeat(64)}`, `app@sha256:${'0'.repeat(64)}`],
  ])('%s is asked for as %s', (image, reference) => {
    marbles(({ expectObservable, scheduler }) => {
      const stage = imageStage(scheduler, {});
      expectObservable(stage.ensure(container('IfNotPresent', image))).toBe('(i|)', { i: 'sha256:1' });
      scheduler.schedule(() => expect(stage.asked).toEqual([`inspect ${reference}`]), 1);
    })();
  });

  it(
    'that cannot be looked at is said and not pulled',
    marbles(({ cold, expectObservable, scheduler }) => {
      const broken = cold<never>('--#', undefined, new CriError('unavailable', 'ImageStatus', 'the disk is gone'));
      const stage = imageStage(scheduler, { inspect$: broken });
      expectObservable(stage.ensure(container('IfNotPresent'))).toBe('--(e|)', {
        e: 'ImageInspectError: Failed to inspect image "app:1": the disk is gone',
      });
      scheduler.schedule(() => {
        expect(stage.asked).toEqual(['inspect app:1']);
        expect(stage.events).toEqual(['InspectFailed Failed to inspect image "app:1": the disk is gone']);
        expect(stage.observed).toEqual(['imageEnsured IfNotPresent  ']);
      }, 5);
    }),
  );

  it.each([
    { case: 'may not be used and may be pulled', policy: 'IfNotPresent', may$: of(false), observed: 'true true' },
    { case: 'may not be used and may not be pulled', policy: 'Never', may$: of(false), observed: 'true true' },
    {
      case: 'may perhaps be used',
      policy: 'Never',
      may$: throwError(() => new Error('the disk is gone')),
      observed: 'true ',
    },
  ])('that is there and $case is counted as such', ({ policy, may$, observed }) => {
    marbles(({ scheduler }) => {
      const stage = imageStage(scheduler, { pullLedger: { ...noLedger, isOn: true, mayHave: () => may$ } });
      stage.ensure(container(policy)).subscribe();
      expect(stage.observed).toEqual([`imageEnsured ${policy} ${observed}`]);
    })();
  });
});

describe('a pull', () => {
  it(
    'that fails waits 10 s, then twice as long each time up to 300 s; one that succeeds in between does not start over',
    marbles(({ scheduler }) => {
      const state = kubeletState();
      let isBroken = true;
      const stage = imageStage(scheduler, {
        pulls: state.pulls,
        inspect$: of(present),
        pull$: of(true).pipe(
          delay(0, scheduler),
          map(() => {
            if (isBroken) throw new Error('no such host');
            return {};
          }),
        ),
      });
      // A busy pod is synced every second.
      const history: string[] = [];
      const sync = () =>
        stage.ensure(container('Always')).subscribe((result) => {
          if (result.startsWith('ErrImagePull')) history.push(`${scheduler.now()} fails`);
          if (result === 'sha256:1') history.push(`${scheduler.now()} pulled`);
        });
      for (let second = 0; second <= 1_850; second += 1) scheduler.schedule(sync, second * SECOND);
      scheduler.schedule(() => (isBroken = false), 1_500 * SECOND);
      scheduler.schedule(() => {
        expect(state.value.backOffs.pullFailures.size).toBe(0);
        isBroken = true;
      }, 1_512.5 * SECOND);
      // The registry works from 1500 s to 1512.5 s. The turn of 1510 s succeeds, and so does each sync after it.
      scheduler.schedule(() => {
        expectLanes(history, { everyMs: SECOND }).toBe({
          fails: ' f---------f 19s f 39s f 79s f 159s f 299s f 299s f 299s f 299s ---f 299s f',
          pulled: '----------- 19s - 39s - 79s - 159s - 299s - 299s - 299s - 299s ppp- 299s -',
        });
      }, 1_850 * SECOND);
    }),
  );

  it(
    'starts over with 10 s after more than 600 s without a failed one',
    marbles(({ scheduler }) => {
      const history: string[] = [];
      const stage = imageStage(scheduler, { pull$: throwError(() => new Error('no such host')) });
      const sync = () =>
        stage.ensure(container('Always')).subscribe((result) => {
          if (result.startsWith('ErrImagePull')) history.push(`${scheduler.now()} fails`);
        });
      // The pod is synced every second, except for two pauses.
      for (let second = 0; second <= 1_240; second += 1) {
        const isPaused = (second > 0 && second < 600) || (second > 620 && second < 1_221);
        if (!isPaused) scheduler.schedule(sync, second * SECOND);
      }
      scheduler.flush();
      expectLanes(history, { everyMs: SECOND }).toBe({ fails: 'f 599s f 19s f 10m f---------f' });
    }),
  );

  it.each([-3_600 * SECOND, 3_600 * SECOND])(
    'that failed is pulled again after its back-off, also when the clock was set by %i ms meanwhile',
    (jumpMs) => {
      marbles(({ scheduler, expectObservable }) => {
        const stage = imageStage(scheduler, {
          pull$: inTurn(
            throwError(() => new CriError('other', 'PullImage', 'no such host')),
            of({}),
          ),
          wallClock: () => 1e12 + scheduler.now() + (scheduler.now() < SECOND ? 0 : jumpMs),
        });
        const ensured$ = merge(
          ...[0, 9_999, 10_000].map((atMs) =>
            timer(atMs, scheduler).pipe(switchMap(() => stage.ensure(container('Always')))),
          ),
        );
        expectObservable(ensured$).toBe('f 9998ms w (s|)', {
          f: 'ErrImagePull: no such host',
          w: 'waits: ImagePullBackOff: Back-off pulling image "app:1": ErrImagePull: no such host',
          s: 'sha256:1',
        });
        scheduler.schedule(() => {
          const backOff = stage.records.find(({ kind }) => kind === 'back-off');
          expect(backOff).toMatchObject({ until: 1e12 + jumpMs + 10 * SECOND });
        }, 11 * SECOND);
      })();
    },
  );

  it(
    'that has to wait says so, with why the last one failed',
    marbles(({ scheduler, expectObservable }) => {
      const stage = imageStage(scheduler, {
        pull$: throwError(() => new CriError('other', 'PullImage', 'no such host')),
      });
      expectObservable(stage.ensure(container('Always'))).toBe('(e|)', { e: 'ErrImagePull: no such host' });
      scheduler.schedule(
        () =>
          stage.ensure(container('Always')).subscribe((result) => {
            expect(result).toBe('waits: ImagePullBackOff: Back-off pulling image "app:1": ErrImagePull: no such host');
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
      const stage = imageStage(scheduler, { pull$: throwError(() => new CriError('other', 'PullImage', text)) });
      expectObservable(stage.ensure(container('Always'))).toBe('(e|)', { e: result });
    })();
  });

  it(
    'is given up at once when the pod has to stop, and counts as no failure',
    marbles(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const abort = new AbortController();
      const pull$ = cold<object>('----------(x|)');
      const state = kubeletState();
      const stage = imageStage(scheduler, { pull$, pulls: state.pulls, signal: abort.signal });
      scheduler.schedule(() => abort.abort(), 4);
      expectObservable(stage.ensure(container('Always'))).toBe('----(e|)', {
        e: 'SyncCancelled: the run was cancelled by a newer update',
      });
      expectSubscriptions(pull$.subscriptions).toBe('^---!');
      scheduler.schedule(() => {
        expect(state.value.backOffs.pulls.size).toBe(0);
        expect(stage.events).toEqual(['Pulling Pulling image "app:1"']);
      }, 20);
    }),
  );
});

describe('a name that cannot be one', () => {
  it(
    'is reported and neither read nor pulled',
    marbles(({ expectObservable, scheduler }) => {
      const stage = imageStage(scheduler, {});
      const message =
        'Failed to apply default image tag "App:1": couldn\'t parse image name "App:1": ' +
        'invalid reference format: repository name (library/App) must be lowercase';
      expectObservable(stage.ensure(container('Always', 'App:1'))).toBe('(e|)', { e: `InvalidImageName: ${message}` });
      scheduler.schedule(() => {
        expect(stage.asked).toEqual([]);
        expect(stage.events).toEqual([`InspectFailed ${message}`]);
        expect(stage.observed).toEqual(['imageEnsured Always  ']);
      }, 1);
    }),
  );
});

describe('what is said of a pull', () => {
  it(
    'is how long it took, with and without waiting for others, cut to milliseconds, and the size',
    marbles(({ cold, scheduler, expectObservable }) => {
      const queue = pullQueue({}, scheduler);
      const stage = imageStage(scheduler, { pull$: cold('1234.9ms (p|)'), pullQueue: queue });
      expectObservable(cold('2s |').pipe(queue())).toBe('2s |');
      expectObservable(stage.ensure(container('Always'))).toBe('3234.9ms (i|)', { i: 'sha256:1' });
      scheduler.schedule(() => {
        expect(stage.events.at(-1)).toBe(
          'Pulled Successfully pulled image "app:1" in 1.234s (3.234s including waiting). Image size: 4096 bytes.',
        );
        expect(stage.observed.at(-1)).toBe('imagePulled 3.234 4096');
      }, 4 * SECOND);
    }),
  );

  it(
    'has no size when the runtime does not say it',
    marbles(({ scheduler, expectObservable }) => {
      const broken$ = throwError(() => new Error('the disk is gone'));
      const stage = imageStage(scheduler, { pull$: of({}), inspect$: broken$ });
      expectObservable(stage.ensure(container('Always'))).toBe('(e|)', {
        e: 'ImageInspectError: Failed to inspect image "app:1": the disk is gone',
      });
      scheduler.schedule(() => {
        expect(stage.events[1]).toBe(
          'Pulled Successfully pulled image "app:1" in 0s (0s including waiting). Image size: 0 bytes.',
        );
      }, 1);
    }),
  );

  it.each([
    [new CriError('unknown', 'PullImage', 'it broke'), 'it broke'],
    [new CriError('not-found', 'PullImage', 'no such image'), 'rpc error: code = NotFound desc = no such image'],
  ])('has the code of the error only where it says something: %s', (error, text) => {
    marbles(({ scheduler, expectObservable }) => {
      const stage = imageStage(scheduler, { pull$: throwError(() => error) });
      expectObservable(stage.ensure(container('Always'))).toBe('(e|)', { e: `ErrImagePull: ${text}` });
      scheduler.schedule(() => expect(stage.events.at(-1)).toBe(`Failed Failed to pull image "app:1": ${text}`), 1);
    })();
  });

  it(
    'is an error when the runtime does not name what it has pulled',
    marbles(({ scheduler, expectObservable }) => {
      const stage = imageStage(scheduler, { pull$: of({ imageRef: '' }) });
      expectObservable(stage.ensure(container('Always'))).toBe('(e|)', {
        e: 'ErrImagePull: imageRef of image "app:1" is not set',
      });
    }),
  );
});
