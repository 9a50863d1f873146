import { describe, expect, it } from 'vitest';
import { chooseContainer, namedContainers, type NamedContainers } from '../../../src/model/logs/choose-container.js';
import type { Pod } from '../../../src/model/pod/pod.js';

const pod = (names: Partial<NamedContainers>): NamedContainers => ({
  ...{ pod: 'web', regular: ['a'], init: [], ephemeral: [] },
  ...names,
});
const MANY = pod({ regular: ['a', 'b'], init: ['i'], ephemeral: ['e'] });

describe('the container of a pod', () => {
  it.each<[string, NamedContainers, string | undefined, string, string[]]>([
    ['with one', pod({}), undefined, 'a', []],
    ['with several', MANY, undefined, 'a', ['Defaulted container "a" out of: a, b, e (ephem), i (init)']],
    ['with an init container', pod({ init: ['i'] }), undefined, 'a', ['Defaulted container "a" out of: a, i (init)']],
    ['with a default', { ...MANY, preferred: 'b' }, undefined, 'b', []],
    [
      'with a default that is none',
      { ...MANY, preferred: 'x' },
      undefined,
      'a',
      ['Default container name "x" not found in pod web', 'Defaulted container "a" out of: a, b, e (ephem), i (init)'],
    ],
    ['by name', { ...MANY, preferred: 'b' }, 'a', 'a', []],
    ['by the name of an init container', MANY, 'i', 'i', []],
    ['by the name of an ephemeral container', MANY, 'e', 'e', []],
  ])('%s', (_, containers, requested, container, notes) => {
    expect(chooseContainer(containers, requested)).toEqual({ container, notes });
  });

  it.each<[NamedContainers, string | undefined, string]>([
    [pod({}), 'x', 'container x is not valid for pod web, choose one of: [a]'],
    [
      MANY,
      'x',
      'container x is not valid for pod web, choose one of: [a b] or one of the init containers: [i] or one of the ephemeral containers: [e]',
    ],
    [pod({ regular: [] }), undefined, 'pod web has no container with a log yet'],
  ])('%j has no %s', (containers, requested, problem) => {
    expect(chooseContainer(containers, requested)).toEqual({ problem });
  });

  it('is one of the lists of its spec, with the default of its annotation', () => {
    const one: Pod = {
      metadata: {
        ...{ name: 'web', namespace: 'default', uid: 'u' },
        annotations: { 'kubectl.kubernetes.io/default-container': 'b' },
      },
      spec: {
        containers: [{ name: 'a' }, { name: 'b' }],
        initContainers: [{ name: 'i' }],
        ephemeralContainers: [{ name: 'e' }],
      },
    };
    expect(namedContainers(one)).toEqual({ ...MANY, preferred: 'b' });
  });
});
