import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { it } from './daemon.js';
import { eventually } from './eventually.js';
import { manifest } from './manifests.js';

describe('a static pod whose namespace is edited', () => {
  it('starts when the pod in the former namespace has stopped', async ({ daemon }) => {
    const script =
      'echo "begins $NAMESPACE" >> "$DIR/lines"; ' +
      'trap "sleep 1; echo \\"ends $NAMESPACE\\" >> \\"$DIR/lines\\"; exit 0" TERM; while :; do sleep 0.05; done';
    const env = [{ name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }];
    const write = (namespace: string): void => {
      const pod = JSON.parse(
        manifest(daemon.directory, { name: 'moved', terminationGracePeriodSeconds: 60, containers: [{ script, env }] }),
      ) as { metadata: object };
      writeFileSync(
        join(daemon.manifests, 'moved.json'),
        JSON.stringify({ ...pod, metadata: { ...pod.metadata, namespace } }),
      );
    };
    const lines = (): readonly string[] => {
      try {
        return readFileSync(join(daemon.directory, 'lines'), 'utf8').trim().split('\n');
      } catch {
        return [];
      }
    };
    write('one');
    await daemon.start();
    await eventually('it runs in the first namespace', () => lines().includes('begins one'));
    write('two');
    await eventually('it runs in the second namespace', () => lines().includes('begins two'));
    await eventually('it has stopped in the first', () => lines().includes('ends one'));
    expect(lines()).toEqual(['begins one', 'ends one', 'begins two']);
  });
});
