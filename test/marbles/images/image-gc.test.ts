import { defer, map, of, type Observable, type SchedulerLike, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type {
  Container,
  ContainerStatusResponse,
  Image,
  ImageFsInfoResponse,
  StatusResponse,
} from '../../../src/generated/runtime/v1/api.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { DEFAULT_IMAGE_GC, type ImageDisk, type ImageGcPolicy } from '../../../src/model/images/image-gc.js';
import { imageGarbage } from '../../../src/streams/images/image-gc.js';
import { anImage } from '../../support/an-image.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';

const MINUTE = 60_000;
const away = new CriError('unavailable', 'any', 'the runtime is away');
const FULL: ImageDisk = { capacityBytes: 1_000n, availableBytes: 100n };
const EMPTY_DISK: ImageDisk = { capacityBytes: 1_000n, availableBytes: 900n };

/** A container: of an image, with images mounted into it. */
interface Use {
  readonly id?: string;
  readonly of: string;
  readonly mounts?: readonly string[];
}

interface Scene {
  readonly images?: readonly Image[];
  readonly uses?: readonly Use[];
  readonly disk?: ImageDisk;
  readonly policy?: Partial<ImageGcPolicy>;
  readonly sandboxImage?: string;
  readonly untilMin?: number;
  /** Calls that fail, by name and image; those of a container's status by its id. */
  readonly fails?: Readonly<Record<string, Error>>;
  readonly mountpoint?: string;
  /** Time goes on between two looks at the clock, as that of a machine does. */
  readonly clockRuns?: boolean;
  /** What else happens, by minute. */
  readonly then?: Readonly<
    Record<
      number,
      (scene: {
        images: Map<string, Image>;
        uses: Use[];
        fails: Map<string, Error>;
        removeUnused$: Observable<never>;
      }) => void
    >
  >;
  readonly listing?: (scheduler: SchedulerLike) => Observable<unknown>;
}

/** The calls, events and log lines until `untilMin`, as `<minutes> <what>`. */
const played = (scene: Scene) => {
  const { disk = FULL, policy, untilMin = 6, mountpoint = '/images', then = {} } = scene;
  const images = new Map((scene.images ?? []).map((image) => [image.id, image]));
  const uses = [...(scene.uses ?? [])];
  const fails = new Map(Object.entries(scene.fails ?? {}));
  const [removed, events, logged, observed]: string[][] = [[], [], [], []];
  const looks: string[] = [];
  marbles(({ scheduler }) => {
    const at = () => Math.round((scheduler.now() / MINUTE) * 100) / 100;
    const answer = <T>(call: string, make: () => T): Observable<T> =>
      defer(() => {
        const error = fails.get(call);
        return error ? throwError(() => error) : of(make());
      });
    const say = (fields: object, message: string) => {
      if ('error' in fields) logged?.push(`${at()} ${message}: ${String(fields.error)}`);
    };
    const { collection$, removeUnused$ } = imageGarbage({
      runtime: {
        status: () =>
          answer('Status', () => {
            const config = JSON.stringify({ sandboxImage: scene.sandboxImage });
            return { info: scene.sandboxImage === undefined ? {} : { config } } as unknown as StatusResponse;
          }),
        listContainers: ({ filter }) => {
          // Ended ones keep their image, too.
          expect(filter).toBeUndefined();
          const containers = uses.map(({ id = 'c', of: imageRef }) => ({ id, imageRef, imageId: '' }));
          return answer('ListContainers', () => ({ containers: containers as unknown as Container[] }));
        },
        containerStatus: ({ containerId = '' }) =>
          answer(`ContainerStatus ${containerId}`, () => {
            const { mounts = [] } = uses.find(({ id = 'c' }) => id === containerId) ?? {};
            return {
              status: { mounts: [{ image: undefined }, ...mounts.map((image) => ({ image: { image } }))] },
            } as unknown as ContainerStatusResponse;
          }),
      },
      images: {
        listImages: () => {
          looks.push(`${scheduler.now()} look`);
          const listing$ = answer('ListImages', () => ({ images: [...images.values()] }));
          return scene.listing
            ? scene.listing(scheduler).pipe(map(() => ({ images: [...images.values()] })))
            : listing$;
        },
        removeImage: ({ image }) =>
          answer(`RemoveImage ${image?.image}`, () => {
            removed?.push(`${at()} ${image?.image}`);
            images.delete(image?.image ?? '');
            return {};
          }),
        imageFsInfo: () =>
          answer('ImageFsInfo', () => {
            looks.push(`${scheduler.now()} disk`);
            const imageFilesystems = mountpoint === '' ? [] : [{ fsId: { mountpoint } }];
            return { imageFilesystems, containerFilesystems: [] } as unknown as ImageFsInfoResponse;
          }),
      },
      diskSpace: (path) => (path === '/images' ? of(disk) : throwError(() => new Error(`ENOENT ${path}`))),
      policy: { ...DEFAULT_IMAGE_GC, ...policy },
      metrics: { imageCollected: (reason) => observed?.push(reason) },
      recordEvent: ({ pod, type, reason, message }) => {
        expect(pod).toBeUndefined();
        events?.push(`${at()} ${type} ${reason} ${message}`);
      },
      log: { debug: say, info: say, warn: say, error: say },
      scheduler: scene.clockRuns ? running(scheduler) : scheduler,
    });
    for (const [minute, act] of Object.entries(then)) {
      scheduler.schedule(() => act({ images, uses, fails, removeUnused$ }), Number(minute) * MINUTE);
    }
    const subscription = collection$.subscribe();
    scheduler.schedule(() => subscription.unsubscribe(), untilMin * MINUTE);
  })();
  return { removed, events, logged, observed, looks };
};

const running = (scheduler: SchedulerLike): SchedulerLike => {
  let looks = 0;
  return {
    now: () => scheduler.now() + ++looks / 1_000,
    schedule: (...args: Parameters<SchedulerLike['schedule']>) => scheduler.schedule(...args),
  };
};

const failed = (at: number, why: string, again = '') => `${at} images could not be collected${again}: ${why}`;

describe('images', () => {
  it('are read and collected at once, and five minutes after the end of each read and each round', () => {
    const { looks } = played({ disk: EMPTY_DISK, untilMin: 13, listing: (scheduler) => timer(MINUTE, scheduler) });
    // A listing takes a minute here. One stream only looks, the other one looks and then reads the disk.
    expectLanes(looks, { everyMs: MINUTE }).toBe({ look: '(ll)-----(ll)-----(ll)', disk: '-   d-----   d-----' });
  });

  it('that were not used for longest make room, until it is enough', () => {
    const { removed, observed } = played({
      images: [anImage('used last'), anImage('never', { size: 60n }), anImage('used first', { size: 60n })],
      uses: [
        { id: 'c1', of: 'used last' },
        { id: 'c2', of: 'used first' },
      ],
      then: {
        4: ({ uses }) => uses.splice(1, 1),
        9: ({ uses }) => uses.splice(0, 1),
      },
      untilMin: 16,
    });
    // 100 of 1000 are free, 200 have to be: 60 are not enough, 120 are.
    expect(removed).toEqual(['5 never', '5 used first', '10 used last']);
    expect(observed).toEqual(['space', 'space', 'space']);
  });

  it('small images make room together until it is enough', () => {
    const small = ['a', 'b', 'c', 'd'].map((id) => anImage(id, { size: 40n }));
    expect(played({ images: small }).removed).toEqual(['5 a', '5 b', '5 c']);
  });

  it('stay while the disk is not too full', () => {
    const { removed, events } = played({
      images: [anImage('a')],
      disk: { capacityBytes: 1_000n, availableBytes: 160n },
    });
    expect([removed, events]).toEqual([[], []]);
  });

  it.each<{ case: string; image?: Image; uses?: readonly Use[]; sandboxImage?: string }>([
    { case: 'a container has them, by their id', uses: [{ of: 'a' }] },
    { case: 'a container has them, by a digest', uses: [{ of: 'r/a@sha256:1' }] },
    { case: 'they are mounted into a container', uses: [{ of: 'other', mounts: ['a'] }] },
    { case: 'the runtime has pinned them', image: anImage('a', { pinned: true }) },
    { case: 'the runtime makes sandboxes of them', sandboxImage: 'r/a:1' },
  ])('stay while $case', ({ image, uses, sandboxImage }) => {
    const { removed } = played({
      images: [image ?? anImage('a', { repoDigests: ['r/a@sha256:1'], repoTags: ['r/a:1'] }), anImage('b')],
      uses,
      sandboxImage,
    });
    expect(removed).toEqual(['5 b']);
  });

  it('that have only just come stay, also when they have come back', () => {
    const { removed } = played({
      images: [anImage('a', { size: 300n })],
      then: {
        4: ({ images }) => images.set('new', anImage('new', { size: 300n })),
        9: ({ images }) => images.set('a', anImage('a', { size: 300n })),
      },
      untilMin: 16,
    });
    // Each was seen first by the pass before the one that removes it.
    expect(removed).toEqual(['5 a', '10 new', '15 a']);
  });

  it('that may go as soon as they have come do so with the first pass, though looking at them takes time', () => {
    let listings = 0;
    const { removed } = played({
      images: [anImage('a')],
      policy: { minAgeMs: 0 },
      clockRuns: true,
      untilMin: 1,
      // The look that is no pass is overtaken.
      listing: (scheduler) => (++listings === 1 ? timer(1_000, scheduler) : of(0)),
    });
    expect(removed).toEqual(['0 a']);
  });

  it('that nothing has used for too long go, however empty the disk', () => {
    const { removed, observed } = played({
      images: [anImage('never'), anImage('used')],
      uses: [{ of: 'used' }],
      disk: EMPTY_DISK,
      policy: { maxAgeMs: 12 * MINUTE },
      then: { 9: ({ uses }) => uses.pop() },
      untilMin: 31,
    });
    // The last use was seen after 5 min; an agent of less than 12 min knows too little.
    expect(removed).toEqual(['15 never', '20 used']);
    expect(observed).toEqual(['age', 'age']);
  });

  it('are left alone when the configuration says so', () => {
    expect(played({ images: [anImage('a')], policy: { highThresholdPercent: 100 } }).looks).toEqual([]);
  });
});

describe('what fails', () => {
  it('is logged, and from the second time in a row on reported by an event about the node', () => {
    const { events, logged } = played({
      fails: { ImageFsInfo: away },
      disk: EMPTY_DISK,
      then: {
        11: ({ fails }) => fails.clear(),
        16: ({ fails }) => fails.set('ImageFsInfo', away),
      },
      untilMin: 26,
    });
    const why = 'the runtime is away';
    expect(logged).toEqual([
      failed(0, why),
      failed(5, why, ', again'),
      failed(10, why, ', again'),
      failed(20, why),
      failed(25, why, ', again'),
    ]);
    expect(events).toEqual([5, 10, 25].map((at) => `${at} Warning ImageGCFailed ${why}`));
  });

  it.each(['ListImages', 'ListContainers', 'Status', 'ContainerStatus c'])(
    'keeps everything when it is not known which images are used: %s',
    (call) => {
      const { removed, logged } = played({ images: [anImage('a')], uses: [{ of: 'b' }], fails: { [call]: away } });
      expect(removed).toEqual([]);
      expect(logged).toContain('5 cannot read which images are in use: the runtime is away');
    },
  );

  it('is not a container that has gone since it was listed', () => {
    const { removed } = played({
      images: [anImage('a')],
      uses: [{ of: 'b' }],
      fails: { 'ContainerStatus c': new CriError('not-found', 'ContainerStatus', 'no such container') },
    });
    expect(removed).toEqual(['5 a']);
  });

  it('by an image that cannot be removed holds up no other', () => {
    const { removed, logged } = played({
      images: [anImage('a'), anImage('b'), anImage('c')],
      fails: { 'RemoveImage a': new Error('a is busy') },
    });
    expect(removed).toEqual(['5 b']);
    const why = 'wanted to free 100 bytes, but freed 100 bytes space with errors in image deletion: a is busy';
    expect(logged?.at(-1)).toBe(failed(5, why, ', again'));
  });

  it('the error of a round has the errors of all images that could not be removed', () => {
    const { logged } = played({
      images: [anImage('a'), anImage('b')],
      fails: { 'RemoveImage a': new Error('a is busy'), 'RemoveImage b': new Error('b is busy') },
    });
    const why = 'wanted to free 100 bytes, but freed 0 bytes space with errors in image deletion';
    expect(logged?.at(-1)).toBe(failed(5, `${why}: [a is busy, b is busy]`, ', again'));
  });

  it('by an old image that cannot be removed leaves the disk to the next pass', () => {
    const { removed, logged } = played({
      images: [anImage('a'), anImage('b')],
      disk: EMPTY_DISK,
      policy: { maxAgeMs: 3 * MINUTE },
      fails: { 'RemoveImage a': new Error('a is busy') },
    });
    expect(removed).toEqual(['5 b']);
    expect(logged).toEqual([
      failed(5, 'wanted to free images older than 3m0s, encountered errors in image deletion: a is busy'),
    ]);
  });
});

describe('a disk', () => {
  it('that stays too full is reported by an event each time', () => {
    const { removed, events } = played({ images: [anImage('a', { size: 40n })] });
    const why = (freed: number) =>
      `Insufficient free disk space on the node's image filesystem (90% of 1000 B used). Failed to free sufficient space by deleting unused images (freed ${freed} bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.`;
    expect(removed).toEqual(['5 a']);
    expect(events).toEqual([
      `0 Warning FreeDiskSpaceFailed ${why(0)}`,
      `5 Warning FreeDiskSpaceFailed ${why(40)}`,
      `5 Warning ImageGCFailed ${why(40)}`,
    ]);
  });

  it('without a capacity is reported by an event', () => {
    const { events, logged } = played({ disk: { capacityBytes: 0n, availableBytes: 0n }, untilMin: 1 });
    expect(events).toEqual(['0 Warning InvalidDiskCapacity invalid capacity 0 on image filesystem']);
    expect(logged).toEqual([failed(0, 'invalid capacity 0 on image filesystem')]);
  });

  it.each([
    { case: 'that the runtime does not name', mountpoint: '', why: 'the runtime does not say where its images are' },
    { case: 'that is not on this machine', mountpoint: '/elsewhere', why: 'ENOENT /elsewhere' },
  ])('$case is said', ({ mountpoint, why }) => {
    expect(played({ mountpoint, untilMin: 1 }).logged).toEqual([failed(0, why)]);
  });
});

describe('a node that is short of disk space', () => {
  /** Removes unused images at this minute, beside the ordinary rounds of a disk that has room. */
  const shortAt = (minute: number, scene: Scene) => {
    const ended: string[] = [];
    const { removed } = played({
      disk: EMPTY_DISK,
      untilMin: minute + 1,
      ...scene,
      then: {
        ...scene.then,
        [minute]: ({ removeUnused$ }) =>
          removeUnused$.subscribe({
            complete: () => ended.push('done'),
            error: (error: unknown) => ended.push((error as Error).message),
          }),
      },
    });
    return { removed, ended };
  };

  it('removes every image that no container uses, the pinned and the sandbox image left out', () => {
    const { removed, ended } = shortAt(3, {
      images: [anImage('a'), anImage('used'), anImage('pinned', { pinned: true }), anImage('sandbox'), anImage('b')],
      uses: [{ of: 'used' }],
      sandboxImage: 'sandbox',
    });
    expect([removed, ended]).toEqual([['3 a', '3 b'], ['done']]);
  });

  it('leaves an image that is younger than the minimum age', () => {
    const images = [anImage('a')];
    expect(shortAt(1, { images }).removed).toEqual([]);
    expect(shortAt(2, { images }).removed).toEqual(['2 a']);
  });

  it('removes them where nothing is collected otherwise, once they are old enough', () => {
    const policy = { highThresholdPercent: 100 };
    const scene = { images: [anImage('a')], policy };
    expect(shortAt(3, { ...scene, then: { 0: ({ removeUnused$ }) => removeUnused$.subscribe() } }).removed).toEqual([
      '3 a',
    ]);
  });

  it('says which images stay, and removes the others', () => {
    const { removed, ended } = shortAt(3, {
      images: [anImage('a'), anImage('b', { size: 7n })],
      fails: { 'RemoveImage a': new Error('a is busy') },
    });
    expect(removed).toEqual(['3 b']);
    expect(ended).toEqual([
      'wanted to free all unused images, but freed 7 bytes with errors in image deletion: a is busy',
    ]);
  });
});
