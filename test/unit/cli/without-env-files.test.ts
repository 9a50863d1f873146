import { expect, it } from 'vitest';
import { withoutEnvFiles } from '../../../src/cli/to-test/without-env-files.js';
import { aPod } from '../../support/a-pod.js';

it('makes constants of the variables of containers that were made, and leaves the others', () => {
  const env = [
    { name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } },
    { name: 'B', value: 'plain' },
  ];
  const pod = aPod({
    spec: { initContainers: [{ name: 'init', env }], containers: [{ name: 'main', env }, { name: 'bare' }] },
  });
  const constants = [{ name: 'A', value: 'of file v/p: k' }, env[1]];
  const { spec } = withoutEnvFiles(pod, (name) => name !== 'main');
  expect(spec.initContainers).toEqual([{ name: 'init', env: constants }]);
  expect(spec.containers).toEqual([{ name: 'main', env }, { name: 'bare' }]);
  expect(withoutEnvFiles(pod, () => true).spec.containers[0]).toEqual({ name: 'main', env: constants });
});
