import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type Daemon, it } from './daemon.js';
import { eventually } from './eventually.js';
import { manifest } from './manifests.js';

/** A pod that writes a line when it begins and when it has ended, which takes a second, each with its node and namespace. */
const stageOf = (daemon: Daemon) => {
  const script =
    'echo "begins $PLACE" >> "$DIR/lines"; ' +
    'trap "sleep 1; echo \\"ends $PLACE\\" >> \\"$DIR/lines\\"; exit 0" TERM; while :; do sleep 0.05; done';
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const env = [
    field('NAMESPACE', 'metadata.namespace'),
    field('NODE', 'spec.nodeName'),
    { name: 'PLACE', value: '$(NAMESPACE) on $(NODE)' },
  ];
  return {
    write: (namespace: string): void => {
      const pod = JSON.parse(
        manifest(daemon.directory, { name: 'moved', terminationGracePeriodSeconds: 60, containers: [{ script, env }] }),
      ) as { metadata: object };
      writeFileSync(
        join(daemon.manifests, 'moved.json'),
        JSON.stringify({ ...pod, metadata: { ...pod.metadata, namespace } }),
      );
    },
    lines: (): readonly string[] => {
      try {
        return readFileSync(join(daemon.directory, 'lines'), 'utf8').trim().split('\n');
      } catch {
        return [];
      }
    },
  };
};

describe('a static pod whose namespace is edited', () => {
  it('starts when the pod in the former namespace has stopped', async ({ daemon }) => {
    const { write, lines } = stageOf(daemon);
    write('one');
    await daemon.start('--hostname-override', 'a');
    await eventually('it runs in the first namespace', () => lines().includes('begins one on a'));
    write('two');
    await eventually('it runs in the second namespace', () => lines().includes('begins two on a'));
    expect(lines()).toEqual(['begins one on a', 'ends one on a', 'begins two on a']);
  });

  it('starts when the former pod has stopped also if no agent ran during the edit', async ({ daemon }) => {
    const { write, lines } = stageOf(daemon);
    write('one');
    await daemon.start('--hostname-override', 'a');
    await eventually('it runs in the first namespace', () => lines().includes('begins one on a'));
    await daemon.kill('SIGKILL');
    write('two');
    await daemon.start('--hostname-override', 'a');
    await eventually('it runs in the second namespace', () => lines().includes('begins two on a'));
    expect(lines()).toEqual(['begins one on a', 'ends one on a', 'begins two on a']);
  });
});

describe('a node that gets another name', () => {
  it('starts its static pods when those of the former name have stopped', async ({ daemon }) => {
    const { write, lines } = stageOf(daemon);
    write('one');
    await daemon.start('--hostname-override', 'a');
    await eventually('it runs on the node of the first name', () => lines().includes('begins one on a'));
    await daemon.kill('SIGKILL');
    await daemon.start('--hostname-override', 'b');
    await eventually('it runs on the node of the second name', () => lines().includes('begins one on b'));
    expect(lines()).toEqual(['begins one on a', 'ends one on a', 'begins one on b']);
  });
});
