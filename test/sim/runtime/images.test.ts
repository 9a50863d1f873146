import { describe, expect, it } from 'vitest';
import { runtimeStage } from './runtime-stage.js';

const image = (name: string) => ({ image: { image: name } });

describe('images of the simulated runtime', () => {
  it('are pulled in their time, and then there under every form of their name', () => {
    const { ask, answer, simulated, scheduler, told } = runtimeStage({
      images: { nginx: { pullMs: 8000, sizeBytes: 7 } },
    });
    expect(answer(simulated.images.imageStatus(image('nginx'))).image).toBeUndefined();
    const startMs = scheduler.now();
    const pull = ask(simulated.images.pullImage(image('nginx')));
    scheduler.runUntil(100_000);
    expect(pull.heard()).toMatchObject({ at: startMs + 8002 });
    expect(told).toContainEqual({ kind: 'image-pulled', at: startMs + 8001, image: 'nginx' });
    const found = answer(simulated.images.imageStatus(image('docker.io/library/nginx:latest'))).image!;
    expect(found).toMatchObject({ repoTags: ['docker.io/library/nginx:latest'], size: 7n });
    expect(answer(simulated.images.imageStatus(image(found.id))).image).toBe(found);
    expect(answer(simulated.images.listImages({})).images).toEqual([found]);
    expect(answer(simulated.images.imageFsInfo({})).imageFilesystems[0]?.usedBytes).toEqual({ value: 7n });
  });

  it('that are there from the beginning need no pull, and are gone once they were removed', () => {
    const { answer, simulated } = runtimeStage({ images: { nginx: { isPresent: true }, '*': { isPresent: true } } });
    for (const name of ['nginx', 'redis:7']) {
      expect(answer(simulated.images.imageStatus(image(name))).image).toBeDefined();
      answer(simulated.images.removeImage(image(name)));
      expect(answer(simulated.images.imageStatus(image(name))).image).toBeUndefined();
    }
    answer(simulated.images.pullImage(image('redis:7')));
    expect(answer(simulated.images.imageStatus(image('redis:7'))).image).toBeDefined();
  });

  it('say by which names they were known when they are removed', () => {
    const { answer, simulated, told } = runtimeStage({ images: { 'nginx:1': { isPresent: true } } });
    answer(simulated.images.imageStatus(image('docker.io/library/nginx:1')));
    const { id } = answer(simulated.images.listImages({})).images[0]!;
    answer(simulated.images.removeImage(image(id)));
    answer(simulated.images.removeImage(image(id)));
    expect(told.filter(({ kind }) => kind === 'image-removed')).toEqual([
      expect.objectContaining({ names: ['nginx:1', 'docker.io/library/nginx:1'] }),
    ]);
  });

  it('say of a pull whether they were there', () => {
    const { answer, simulated, told } = runtimeStage({ images: { nginx: { isPresent: true } } });
    answer(simulated.images.pullImage(image('nginx')));
    answer(simulated.images.pullImage(image('redis')));
    expect(told.flatMap((event) => (event.kind === 'image-pulled' ? [[event.image, event.wasThere]] : []))).toEqual([
      ['nginx', true],
      ['redis', undefined],
    ]);
  });

  it('fail to be pulled as often as they are set to', () => {
    const { answer, simulated } = runtimeStage({
      images: {
        nginx: { pullMs: 10, pullError: { message: 'no such host', times: 2 } },
        never: { pullError: { message: 'denied' } },
      },
    });
    const nginx = () => answer(simulated.images.pullImage(image('nginx')));
    expect(nginx).toThrow('no such host');
    expect(nginx).toThrow('no such host');
    nginx();
    for (const name of ['never', 'never', 'never'])
      expect(() => answer(simulated.images.pullImage(image(name)))).toThrow('denied');
  });

  it('are the same by content whenever they are pulled, and different from each other', () => {
    const ids = (names: readonly string[]) => {
      const { answer, simulated } = runtimeStage({ images: {} });
      return names.map((name) => answer(simulated.images.pullImage(image(name))).imageRef);
    };
    const [a, b] = ids(['a', 'b']);
    expect(ids(['b', 'a'])).toEqual([b, a]);
    expect(a).not.toBe(b);
  });
});
