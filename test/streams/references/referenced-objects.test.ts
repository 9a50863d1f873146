import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { referencedObjects } from '../../../src/streams/references/referenced-objects.js';
import { aPod } from '../../support/a-pod.js';

/** A pod whose labels name what it refers to. */
const refers = (uid: string, ...names: string[]) =>
  aPod({ uid, namespace: `ns-${uid}`, labels: Object.fromEntries(names.map((name) => [name, ''])) });

const stageOf = () => {
  const did: string[] = [];
  const objects = referencedObjects(
    {
      refer: (...what) => did.push(`+${what.join(' ')}`),
      release: (...what) => did.push(`-${what.join(' ')}`),
      read: () => NEVER,
      changed$: NEVER,
      run$: NEVER,
    },
    ({ metadata }) => new Set(Object.keys(metadata.labels ?? {})),
  );
  const since = (): readonly string[] => did.splice(0);
  return { ...objects, since };
};

describe('what registered pods refer to', () => {
  it('is what a new pod names, and what another spec names besides', () => {
    const { register, unregister, since } = stageOf();
    register(refers('p', 'a', 'b'));
    expect(since()).toEqual(['+ns-p a p', '+ns-p b p']);
    register(refers('p', 'a', 'b'));
    expect(since()).toEqual([]);
    register(refers('p', 'b', 'c'));
    expect(since()).toEqual(['+ns-p c p', '-ns-p a p']);
    // The references of the registration count, not those of the pod at its end.
    unregister(refers('p'));
    expect(since()).toEqual(['-ns-p b p', '-ns-p c p']);
    unregister(refers('p', 'b'));
    expect(since()).toEqual([]);
  });

  it('is counted for each pod by itself', () => {
    const { register, unregister, since } = stageOf();
    register(refers('p', 'a'));
    register(refers('q', 'a'));
    unregister(refers('p', 'a'));
    expect(since()).toEqual(['+ns-p a p', '+ns-q a q', '-ns-p a p']);
    register(refers('p', 'a'));
    expect(since()).toEqual(['+ns-p a p']);
  });
});
