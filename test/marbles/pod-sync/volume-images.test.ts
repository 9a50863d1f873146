import { concat, ignoreElements, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ImageStatusResponse } from '../../../src/generated/runtime/v1/api.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { Container, PodSpec } from '../../../src/model/pod/pod.js';
import type { ImageService } from '../../../src/streams/ports/image-service.js';
import { marbles } from '../marbles.js';
import { present, stageOf } from './start-stage.js';

const mounting = (...names: readonly string[]): Container => ({
  name: 'main',
  image: 'app:1',
  imagePullPolicy: 'IfNotPresent',
  volumeMounts: names.map((name, index) => ({ name, mountPath: `/m${index}` })),
});
const podVolumes: PodSpec['volumes'] = [
  ...['one', 'three'].map((name) => ({ name, image: { reference: `${name}:1`, pullPolicy: 'IfNotPresent' } })),
  { name: 'never', image: { reference: 'never:1', pullPolicy: 'Never' } },
  { name: 'scratch', emptyDir: {} },
];

/** Only the image of the container is on the node unless other ones are named, and the registry has only `three` and it. */
const images = (...onNode: readonly string[]): Partial<ImageService> => {
  const there = new Set(onNode.length > 0 ? onNode : ['app:1']);
  return {
    imageStatus: ({ image }) =>
      of(there.has(image?.userSpecifiedImage ?? '') ? present : ({ info: {} } as ImageStatusResponse)),
    pullImage: ({ image }) => {
      const name = image?.userSpecifiedImage ?? '';
      if (name !== 'three:1' && name !== 'app:1')
        return throwError(() => new CriError('not-found', 'PullImage', 'no such image'));
      there.add(name);
      return of({ imageRef: 'sha256:3' });
    },
  };
};

const failed = (stage: ReturnType<typeof stageOf>): readonly string[] =>
  stage.events.filter((event) => event.startsWith('Failed Error'));

describe('the images of the volumes that a container mounts', () => {
  it(
    'are events like that of its own image when their pull fails, and when it backs off',
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { container: mounting('scratch', 'one'), podVolumes, images: images() });
      const problem = 'rpc error: code = NotFound desc = no such image';
      expectObservable(concat(stage.start$, stage.start$)).toBe('(pb|)', {
        p: `ErrImagePull: ${problem}`,
        b: `waits: ImagePullBackOff: Back-off pulling image "one:1": ErrImagePull: ${problem}`,
      });
      scheduler.schedule(() => {
        expect(stage.calls).toEqual([]);
        expect(failed(stage)).toEqual(['Failed Error: ErrImagePull', 'Failed Error: ImagePullBackOff']);
        expect(stage.observed.filter((line) => line.startsWith('containerStarted'))).toEqual([
          'containerStarted container ErrImagePull',
          'containerStarted container ImagePullBackOff',
        ]);
      }, 1);
    }),
  );

  it(
    'are all got, each failure is an event, and the last one is the reason of the container',
    marbles(({ expectObservable, scheduler }) => {
      const container = mounting('one', 'never', 'one', 'three');
      const stage = stageOf(scheduler, { container, podVolumes, images: images() });
      expectObservable(stage.start$).toBe('(o|)', {
        o: 'ErrImageNeverPull: Container image "never:1" is not present with pull policy of Never',
      });
      scheduler.schedule(() => {
        expect(failed(stage)).toEqual(['Failed Error: ErrImagePull', 'Failed Error: ErrImageNeverPull']);
        expect(stage.events.at(-1)).toMatch(/^Pulled Successfully pulled image "three:1"/);
        expect(stage.calls).toEqual([]);
      }, 1);
    }),
  );

  it(
    'let the container start once all are there',
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { container: mounting('three', 'scratch'), podVolumes, images: images() });
      expectObservable(stage.start$).toBe('(o|)', { o: 'ok' });
      scheduler.schedule(() => {
        expect(failed(stage)).toEqual([]);
        expect(stage.calls).toEqual(['create main 0 main/0.log', 'start new']);
      }, 1);
    }),
  );

  it.each([
    ['three', ['three:1', 'app:1']],
    // Without it the container cannot start.
    ['one', ['one:1']],
  ])('are pulled before its own image, which waits for them: %s', (volume, expected) =>
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { container: mounting(volume), podVolumes, images: images('none:1') });
      expectObservable(stage.start$.pipe(ignoreElements())).toBe('|');
      scheduler.schedule(() => {
        const pulling = stage.events.flatMap((event) => /^Pulling .*"(.*)"/.exec(event)?.slice(1) ?? []);
        expect(pulling).toEqual(expected);
      }, 1);
    })(),
  );

  it(
    'are no failure once the pod has to stop',
    marbles(({ cold, expectObservable, scheduler }) => {
      const abort = new AbortController();
      scheduler.schedule(() => abort.abort(), 2);
      const stage = stageOf(scheduler, {
        container: mounting('one', 'three'),
        podVolumes,
        images: { ...images(), pullImage: () => cold('-----#') },
        signal: abort.signal,
      });
      expectObservable(stage.start$).toBe('--(o|)', { o: 'SyncCancelled: the run was cancelled by a newer update' });
      scheduler.schedule(() => expect(failed(stage)).toEqual([]), 7);
    }),
  );
});
