import { describe, expect, it } from 'vitest';
import { containerIn, planned, podIn, type Sketch } from './plan-of.js';

/** The pod of a sketch, whose image is on the node. */
const podOf = ({ scenario = '', ...sketch }: Sketch) =>
  podIn(planned({ ...sketch, scenario: `images: {"i:1": {present: true}}\n${scenario}` }).plan);

describe('a container with variables of a file', () => {
  const spec = `  volumes: [{name: data, emptyDir: {}}]
  initContainers:
    - {name: other, image: "i:1", volumeMounts: [{name: data, mountPath: /other, readOnly: true}]}
    - {name: init, image: "i:1", volumeMounts: [{name: data, mountPath: /data}]}
  containers:
    - name: main
      image: i:1
      env:
        - {name: A, valueFrom: {fileKeyRef: {volumeName: data, path: sub/env, key: A}}}
        - {name: B, valueFrom: {fileKeyRef: {volumeName: data, path: sub/env, key: B}}}
`;

  it('starts, since the first container that can write the file is assumed to write it', () => {
    expect(containerIn(podOf({ spec, for: '1m' }), 'main').instances).toHaveLength(1);
    const partly = podOf({ spec, scenario: 'containers: {init: {exitsAfter: 3s}}', for: '1m' });
    expect(containerIn(partly, 'main').instances).toHaveLength(1);
  });

  it('does not start if the scenario has another file', () => {
    const scenario = `containers: {init: {exitsAfter: 1s, writes: {/data/sub/env: "A='1'"}}}`;
    const pod = podOf({ spec, scenario, for: '1m' });
    expect(containerIn(pod, 'main').instances).toHaveLength(0);
    expect(pod.events.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^Error: environment variable key "B" not found in file ".*\/data\/sub\/env"$/),
    );
  });
});
