import { BehaviorSubject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { kubelet } from '../../../src/kubelet.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { placeObjects } from '../../../src/model/manifest/place-objects.js';
import { placePods } from '../../../src/model/manifest/place-pods.js';
import { podSet, type SourceEvent } from '../../../src/model/pod/pod-set.js';
import { replay } from '../../../src/tools/recording/replay.js';
import { simulatedNode } from '../../../src/tools/sim/simulated-node.js';
import { VirtualScheduler } from '../../../src/tools/sim/world/virtual-scheduler.js';
import { recordingsInMemory } from './recordings-in-memory.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const PLANTED = {
  password: 'db-P4ssword/+ü"x',
  short: 'pw1',
  pull: 'Pull:Secret-Password',
  changed: 'the next one of them',
};
const docker = JSON.stringify({ auths: { 'registry.test': { auth: base64(`robot:${PLANTED.pull}`) } } });

const manifest = (password: string): string => `
apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: ${JSON.stringify({ password, short: PLANTED.short })}
---
apiVersion: v1
kind: Secret
metadata: {name: pull}
type: kubernetes.io/dockerconfigjson
stringData: ${JSON.stringify({ '.dockerconfigjson': docker })}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {level: open-level}
---
apiVersion: v1
kind: Pod
metadata: {name: web, uid: web}
spec:
  imagePullSecrets: [{name: pull}]
  containers:
  - name: main
    image: registry.test/app:1
    args: ['--password=$(password)']
    env: [{name: SHORT, valueFrom: {secretKeyRef: {name: db, key: short}}}]
    envFrom: [{secretRef: {name: db}}, {configMapRef: {name: settings}}]
`;

const setOf = (text: string): SourceEvent => {
  const reading = readManifest(text, { file: 'web.yaml' });
  const { pods } = placePods(reading, { source: 'file', nodeName: 'node-1', origin: 'web.yaml' });
  return podSet(pods, placeObjects(reading, 'web.yaml', []).objects);
};

const record = () => {
  const { makeKubelet, recordings } = recordingsInMemory(kubelet);
  const scheduler = new VirtualScheduler();
  const set$ = new BehaviorSubject(setOf(manifest(PLANTED.password)));
  const told: string[] = [];
  const node = simulatedNode({
    ...{ seed: 7, scheduler, makeKubelet, sources: { file: set$ } },
    behaviours: { images: { 'registry.test/app:1': { pullMs: 10 } } },
    tell: (event) =>
      told.push(JSON.stringify(event, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))),
  });
  node.start();
  scheduler.runUntil(scheduler.now() + 60_000);
  set$.next(setOf(manifest(PLANTED.changed)));
  node.runtime.crash(node.runtime.liveContainers()[0]!.containerId, 1);
  scheduler.runUntil(scheduler.now() + 60_000);
  const shown = JSON.stringify(node.pods());
  node.kill();
  const journal = told.filter((line) => line.includes('"kind":"journal"')).join('\n');
  return { recording: recordings()[0]!, live: node.runtime.liveContainers(), shown, journal };
};

describe('Secrets of manifests', () => {
  it('are nowhere in the recording of a node that uses them, which replays without a difference', () => {
    const { recording, live, shown, journal } = record();
    const written = recording.lines.join('\n');
    for (const secret of [PLANTED.password, PLANTED.pull, PLANTED.changed, docker])
      for (const form of [
        secret,
        JSON.stringify(secret).slice(1, -1),
        base64(secret).replace(/=+$/, ''),
        encodeURIComponent(secret),
      ])
        for (const text of [written, shown, journal]) expect(text).not.toContain(form);
    expect(written).not.toContain(base64(`robot:${PLANTED.pull}`));
    expect(written).not.toContain(`"${PLANTED.short}"`);
    expect(written).not.toContain(`"${base64(PLANTED.short)}"`);
    // They were used: a container was created with them, and again with the new value.
    expect(live).toHaveLength(1);
    expect(journal).toContain('"op":"REFRESH"');
    const created = recording.lines.filter((line) => line.includes('"port":"runtime.createContainer"'));
    const passwords = created.map((line) => /"key":"password","value":\{"\$text":"(<secret \d+>)"/.exec(line)?.[1]);
    expect(passwords).toEqual([expect.any(String), expect.any(String)]);
    expect(passwords[0]).not.toBe(passwords[1]);
    expect(created[0]).toContain(`"--password=${passwords[0]}"`);
    expect(created[0]).toMatch(/"key":"SHORT","value":\{"\$text":"<secret \d+>"/);
    expect(created[0]).toContain('"key":"level","value":{"$text":"open-level"}');
    expect(written).toMatch(/"images\.pullImage".*"username":"robot"/);
    expect(replay(recording, kubelet)).toMatchObject({ kind: 'same', entries: recording.lines.length });
  });
});
