import { catchError, concat, defer, map, type Observable, of, throwError } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { ListImagesResponse } from '../../../src/generated/runtime/v1/api.js';
import { DEFAULT_VERIFICATION } from '../../../src/model/images/image-verification.js';
import type { PullCredential } from '../../../src/model/images/pull-secret.js';
import type { StartWait } from '../../../src/model/pod-actions/start-wait.js';
import { ledgerFor, noLedger, type Pulled, pullLedger } from '../../../src/streams/images/pull-ledger.js';
import type { ImageAccessResult } from '../../../src/streams/ports/metrics.js';
import type { PullRecords } from '../../../src/streams/ports/pull-records.js';
import { memoryPullRecords } from '../../support/memory-pull-records.js';
import { marbles } from '../marbles.js';

const IMAGE = 'r.example.com/app:1';
const REF = 'sha256:1';
const credentialOf = (name: string, password = 'secret'): PullCredential => ({
  ...{ username: name, password },
  secret: { uid: `uid-${name}`, namespace: 'default', name },
});
const listed = (id: string, ...repoTags: string[]) => ({ id, repoTags, repoDigests: [] });

const stageOf = (
  scheduler: TestScheduler,
  {
    records = memoryPullRecords(),
    broken = {},
    present = [],
  }: {
    readonly records?: ReturnType<typeof memoryPullRecords>;
    readonly broken?: Partial<PullRecords>;
    readonly present?: readonly object[] | Observable<ListImagesResponse>;
  } = {},
) => {
  const warnings: string[] = [];
  const checks: ImageAccessResult[] = [];
  const listing$ = 'pipe' in present ? present : of({ images: present } as unknown as ListImagesResponse);
  const ledger = pullLedger(
    {
      images: { listImages: () => listing$ },
      pullRecords: { ...records, ...broken },
      metrics: { imageAccessChecked: (result) => checks.push(result) },
      log: { warn: (_, message) => warnings.push(message ?? '') },
      wallClock: () => scheduler.now(),
      scheduler,
    },
    DEFAULT_VERIFICATION,
  );
  const pull = (source$: Observable<Pulled>) =>
    source$.pipe(
      ledger.remember(IMAGE),
      map(({ imageRef }) => imageRef),
    );
  const asks = (...credentials: PullCredential[]) => ledger.mayHave(IMAGE, REF, of(credentials));
  return { records, warnings, checks, ledger, pull, asks };
};

const answers = { y: true, n: false };
const anonymous: Pulled = { imageRef: REF, credential: undefined };

describe('an image that is there', () => {
  it(
    'may be used by every pod when it was there before the agent, and then no secrets are read',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const secrets = cold<readonly PullCredential[]>('-#');
      const { ledger } = stageOf(scheduler);
      expectObservable(ledger.mayHave(IMAGE, REF, secrets)).toBe('(y|)', answers);
      expectSubscriptions(secrets.subscriptions).toBe([]);
    }),
  );

  it(
    'may be used by every pod when it was pulled without a secret',
    marbles(({ cold, expectObservable, scheduler }) => {
      const { pull, asks } = stageOf(scheduler);
      expectObservable(concat(pull(cold('-(p|)', { p: anonymous })), asks())).toBe('-(py|)', { p: REF, ...answers });
    }),
  );

  it(
    'may be had by those who have the secret by which it was pulled, and what is seen to be right is learned',
    marbles(({ expectObservable, scheduler }) => {
      const { pull, asks, records } = stageOf(scheduler);
      const pulled$ = pull(of({ imageRef: REF, credential: credentialOf('anna') }));
      const copy = { ...credentialOf('copy'), username: 'anna' };
      expectObservable(
        concat(pulled$, asks(), asks(credentialOf('otto')), asks(credentialOf('anna')), asks(copy)),
      ).toBe('(pnnyy|)', { p: REF, ...answers });
      scheduler.schedule(() => {
        const known = records.kept.get(REF)?.credentialMapping?.['r.example.com/app']?.kubernetesSecrets;
        expect(known?.map(({ name, credentialHash }) => `${name}: ${credentialHash}`)).toEqual([
          'anna: hash of anna:secret',
          'copy: hash of anna:secret',
        ]);
      }, 1);
    }),
  );

  it(
    'may be used by every pod under a name that it had before a pod pulled it under another one, and by no other name',
    marbles(({ expectObservable, scheduler }) => {
      const present = [
        { id: REF, repoTags: [IMAGE, 'docker.io/library/base:1'], repoDigests: ['r.example.com/app@sha256:7'] },
      ];
      const { ledger } = stageOf(scheduler, { present });
      const pulled$ = of({ imageRef: REF, credential: credentialOf('anna') }).pipe(
        ledger.remember('locked.example.com/app:1'),
        map(({ imageRef }) => imageRef),
      );
      const asks = (image: string) => ledger.mayHave(image, REF, of([]));
      expectObservable(
        concat(
          pulled$,
          ...[IMAGE, 'base:1', 'r.example.com/app@sha256:7'].map(asks),
          // The name of the pull, another tag of it, the image's id, and the beginning of that.
          ...['locked.example.com/app:1', 'locked.example.com/app:2', REF, 'sha256'].map(asks),
        ),
      ).toBe('(pyyynnnn|)', { p: REF, ...answers });
    }),
  );

  it(
    'may be used by every pod under every name once a pod has pulled it without a secret',
    marbles(({ expectObservable, scheduler }) => {
      const { ledger, pull } = stageOf(scheduler);
      const asks$ = ledger.mayHave('air-gapped.example.com/app:1', REF, of([]));
      expectObservable(concat(pull(of(anonymous)), asks$)).toBe('(py|)', { p: REF, ...answers });
    }),
  );

  it(
    'is not taken for a loaded one under a name whose pull was interrupted, or where the runtime cannot list',
    marbles(({ expectObservable, scheduler }) => {
      const records = memoryPullRecords();
      const present = [listed(REF, IMAGE, 'other.example.com/app:1')];
      const before = stageOf(scheduler, { records, present });
      const other$ = of({ imageRef: REF, credential: credentialOf('anna') }).pipe(
        before.ledger.remember('other.example.com/app:1'),
        map(() => REF),
      );
      // The agent is killed during the second pull.
      const killed$ = concat(other$, records.writeIntent(IMAGE));
      const asks$ = defer(() => stageOf(scheduler, { records, present }).asks());
      const away = stageOf(scheduler, { records, present: throwError(() => new Error('away')) });
      expectObservable(concat(killed$, asks$, away.ledger.mayHave('base:1', REF, of([])))).toBe('(pnn|)', {
        p: REF,
        ...answers,
      });
    }),
  );

  it(
    'has to be pulled by every pod while it is pulled, and when its record cannot be read',
    marbles(({ cold, expectObservable, scheduler }) => {
      const { pull, asks } = stageOf(scheduler);
      expectObservable(pull(cold('---(p|)', { p: anonymous })), '^-!').toBe('---');
      expectObservable(asks(), '-^').toBe('-(n|)', answers);
      const broken = stageOf(scheduler, { broken: { pulled: () => throwError(() => new Error('no JSON')) } });
      expectObservable(broken.asks()).toBe('(n|)', answers);
      scheduler.schedule(() => expect(broken.warnings).toEqual(['a record of a pulled image cannot be read']), 5);
    }),
  );
});

describe('a pull', () => {
  it(
    'has an intent before it begins, a record before its result is emitted, and then no intent',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const { pull, records } = stageOf(scheduler);
      const source = cold('--(p|)', { p: anonymous });
      expectObservable(pull(source)).toBe('--(p|)', { p: REF });
      expectSubscriptions(source.subscriptions).toBe('^-!');
      scheduler.schedule(() => expect(records.changes).toEqual([`begin ${IMAGE}`]), 1);
      scheduler.schedule(() => expect(records.changes).toEqual([`begin ${IMAGE}`, `record ${REF}`, `end ${IMAGE}`]), 3);
    }),
  );

  it(
    'that fails is no longer noted, unless another one of the same image is under way',
    marbles(({ cold, expectObservable, scheduler }) => {
      const { pull, records } = stageOf(scheduler);
      expectObservable(pull(cold('--#'))).toBe('--#');
      expectObservable(pull(cold('----#'))).toBe('----#');
      scheduler.schedule(() => expect([...records.begun]).toEqual([IMAGE]), 3);
      scheduler.schedule(() => {
        expect([...records.begun]).toEqual([]);
        expect(records.changes.at(-1)).toBe(`end ${IMAGE}`);
      }, 5);
    }),
  );

  it(
    'that has to wait is no longer noted, and records nothing',
    marbles(({ cold, expectObservable, scheduler }) => {
      const { ledger, records } = stageOf(scheduler);
      const wait: StartWait = { container: 'main', reason: 'ImagePullBackOff', message: 'wait' };
      expectObservable(cold('-(w|)', { w: wait }).pipe(ledger.remember(IMAGE))).toBe('-(w|)', { w: wait });
      scheduler.schedule(() => {
        expect(records.changes).toEqual([`begin ${IMAGE}`, `end ${IMAGE}`]);
        expect([...records.begun]).toEqual([]);
      }, 2);
    }),
  );

  it(
    'that cannot be noted does not begin',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const source = cold<Pulled>('-#');
      const full = () => throwError(() => new Error('disk full'));
      const { pull } = stageOf(scheduler, { broken: { writeIntent: full } });
      const message = `Failed to record image pull intent for container image "${IMAGE}": disk full`;
      const told$ = pull(source).pipe(catchError((error: unknown) => of(String(error))));
      expectObservable(told$).toBe('(m|)', { m: `PullNotRecorded: ${message}` });
      expectSubscriptions(source.subscriptions).toBe([]);
    }),
  );

  it(
    'that cannot be recorded succeeds, and stays noted, so that the image counts as pulled',
    marbles(({ expectObservable, scheduler }) => {
      const full = () => throwError(() => new Error('disk full'));
      const { pull, asks, records, warnings } = stageOf(scheduler, { broken: { writePulled: full } });
      expectObservable(concat(pull(of(anonymous)), asks())).toBe('(pn|)', { p: REF, ...answers });
      scheduler.schedule(() => {
        expect([...records.begun]).toEqual([IMAGE]);
        expect(warnings).toEqual(['a record of a pulled image cannot be written']);
      }, 1);
    }),
  );
});

describe('what an earlier agent has left', () => {
  it(
    'is settled once it is needed: begun pulls whose image is there are recorded, records of images that are gone go',
    marbles(({ expectObservable, scheduler }) => {
      const records = memoryPullRecords();
      for (const image of [IMAGE, 'nginx', 'r.example.com/absent:1']) records.begun.add(image);
      for (const imageRef of ['sha256:gone', 'sha256:2'])
        records.kept.set(imageRef, { lastUpdatedTime: '', imageRef, credentialMapping: {} });
      const present = [
        listed(REF, IMAGE),
        listed('sha256:2', 'other:1'),
        listed('sha256:3', 'docker.io/library/nginx:latest'),
      ];
      const { asks } = stageOf(scheduler, { records, present });
      expectObservable(concat(asks(), asks())).toBe('(nn|)', answers);
      scheduler.schedule(() => {
        expect(records.changes).toEqual([
          `record ${REF}`,
          `end ${IMAGE}`,
          'record sha256:3',
          'end nginx',
          'forget sha256:gone',
        ]);
        expect([...records.begun]).toEqual(['r.example.com/absent:1']);
        expect(records.kept.get(REF)?.credentialMapping).toEqual({ 'r.example.com/app': {} });
      }, 1);
    }),
  );

  it(
    'stays as it is when the runtime does not list its images, and no pull waits for that twice',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const records = memoryPullRecords();
      records.begun.add(IMAGE);
      const present = cold<ListImagesResponse>('--#');
      const { asks, warnings } = stageOf(scheduler, { records, present });
      expectObservable(asks()).toBe('--(n|)', answers);
      expectObservable(asks(), '-^').toBe('--(n|)', answers);
      expectObservable(asks(), '---^').toBe('---(n|)', answers);
      expectSubscriptions(present.subscriptions).toBe('^-!');
      scheduler.schedule(() => {
        expect([...records.begun]).toEqual([IMAGE]);
        expect(warnings).toEqual(['records of pulled images cannot be brought up to date']);
      }, 5);
    }),
  );
});

it('without verification every pod may use every image, and nothing is written', () => {
  expect(ledgerFor({} as Parameters<typeof ledgerFor>[0], 'none')).toBe(noLedger);
});

describe('a check whether a pod may use a present image', () => {
  it(
    'counts whether the policy, a record or nothing allowed it',
    marbles(({ flush, scheduler }) => {
      const preloaded = stageOf(scheduler);
      preloaded.asks().subscribe();
      const { pull, asks, checks } = stageOf(scheduler);
      pull(of({ imageRef: REF, credential: credentialOf('one') })).subscribe();
      asks(credentialOf('one')).subscribe();
      asks(credentialOf('other', 'another')).subscribe();
      flush();
      expect(preloaded.checks).toEqual(['credentialPolicyAllowed']);
      expect(checks).toEqual(['credentialRecordFound', 'mustAuthenticate']);
    }),
  );

  it(
    'counts records that cannot be read',
    marbles(({ flush, scheduler }) => {
      const broken = { pulled: () => throwError(() => new Error('EIO')) };
      const { asks, checks } = stageOf(scheduler, { broken });
      asks().subscribe();
      flush();
      expect(checks).toEqual(['error']);
    }),
  );
});
