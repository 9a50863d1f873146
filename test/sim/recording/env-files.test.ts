import { concat, NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { kubelet } from '../../../src/kubelet.js';
import type { Container } from '../../../src/model/pod/pod.js';
import { podSet } from '../../../src/model/pod/pod-set.js';
import { parseEnvFile } from '../../../src/model/cri/env-file.js';
import { hideEnvFile } from '../../../src/tools/recording/secrets/hide-env-file.js';
import { replay } from '../../../src/tools/recording/replay.js';
import { SecretKeeper } from '../../../src/tools/recording/secrets/secret-keeper.js';
import { simulatedNode } from '../../../src/tools/sim/simulated-node.js';
import { VirtualScheduler } from '../../../src/tools/sim/world/virtual-scheduler.js';
import { aPod } from '../../support/a-pod.js';
import { recordingsInMemory } from './recordings-in-memory.js';

const ref = (name: string, path = 'sub/env', more = {}) => ({
  name,
  valueFrom: { fileKeyRef: { volumeName: 'made', path, key: name, ...more } },
});
const main: Container = {
  name: 'main',
  image: 'i:1',
  args: ['--password=$(PASSWORD)', '--port=$(PORT)', '--mode=production'],
  env: [ref('PASSWORD'), ref('PORT'), ref('MODE'), ref('NONE', 'sub/env', { optional: true })],
};
const pod = aPod({
  uid: 'u',
  spec: {
    volumes: [{ name: 'made', emptyDir: {} }],
    initContainers: [{ name: 'maker', image: 'i:1', volumeMounts: [{ name: 'made', mountPath: '/made' }] }],
    containers: [main, { ...main, name: 'late', env: [ref('PASSWORD', 'broken')] }],
  },
});
const PASSWORD = 'made-P4ssword/"x';

const record = () => {
  const { makeKubelet, recordings } = recordingsInMemory(kubelet);
  const scheduler = new VirtualScheduler();
  const told: string[] = [];
  const node = simulatedNode({
    ...{ seed: 7, scheduler, makeKubelet },
    behaviours: {
      images: { 'i:1': { isPresent: true } },
      containers: {
        maker: [
          {
            exitsAfterMs: 1000,
            writes: {
              '/made/sub/env': `PASSWORD='${PASSWORD}'\nPORT='8080'\nMODE='production'\n`,
              '/made/broken': `PASSWORD=${PASSWORD}\n`,
              '/elsewhere/env': 'is written into no volume',
            },
          },
        ],
      },
    },
    sources: { file: concat(of(podSet([pod])), NEVER) },
    tell: (event) =>
      told.push(JSON.stringify(event, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))),
  });
  node.start();
  scheduler.runUntil(scheduler.now() + 60_000);
  const statuses = node.pods().flatMap(({ status }) => status?.containerStatuses ?? []);
  const live = node.runtime.liveContainers().map(({ container }) => container);
  node.kill();
  const journal = told.filter((line) => line.includes('"kind":"journal"')).join('\n');
  return { recording: recordings()[0]!, journal, statuses, live };
};

describe('env files that an init container writes', () => {
  const { recording, journal, statuses, live } = record();
  const written = recording.lines.join('\n');

  it('are the environment of the containers after it', () => {
    expect(live).toEqual(['main']);
    const created = recording.lines.find((line) => line.includes('createContainer') && line.includes('"PASSWORD"'));
    expect(created).toContain('"key":"PORT","value":{"$text":"8080"}');
    expect(created).toContain('"key":"MODE","value":{"$text":"production"}');
    expect(created).toContain('"--port=8080"');
    expect(created).toMatch(/"key":"PASSWORD","value":\{"\$text":"<secret \d+>"\}/);
    expect(created).not.toContain('"NONE"');
  });

  it('are an error of the container where they cannot be parsed, without their text', () => {
    const waiting = statuses.find(({ name }) => name === 'late')?.state?.waiting;
    expect(waiting).toMatchObject({ reason: 'CreateContainerConfigError', message: "couldn't parse env file" });
    expect(journal).toContain("Error: couldn't parse env file");
    expect(journal).not.toContain('P4ssword');
  });

  it('are in the recording without their longer values, and the replay has no difference', () => {
    expect(written).toContain('"port":"volumeFiles.read"');
    for (const form of [PASSWORD, JSON.stringify(PASSWORD).slice(1, -1), Buffer.from(PASSWORD).toString('base64')])
      expect(written).not.toContain(form);
    expect(replay(recording, kubelet)).toMatchObject({ kind: 'same', entries: recording.lines.length });
  });
});

describe('a hidden env file', () => {
  const hidden = (text: string, keeper = new SecretKeeper()): string =>
    Buffer.from(hideEnvFile(Buffer.from(text), keeper)).toString();

  it('has the same names, empty values and problems', () => {
    expect(hidden("# secret\n  A='password' # x\nB=''\nC='two\nlines'\nB='ignored'\nD= x\n")).toBe(
      "A='<secret 1>'\nB=''\nC='<secret 3>'\nD=''\n",
    );
    const broken = "A='password'\nB=password\nC='password'\n";
    expect(hidden(broken)).toBe("A='<secret 1>'\n?\n");
    const { values, problem } = parseEnvFile(Buffer.from(hidden(broken)));
    expect([[...values.keys()], problem !== undefined]).toEqual([['A'], true]);
  });

  it('keeps the values of which a replay could not do without the text', () => {
    const keeper = new SecretKeeper();
    keeper.publish('pod', { args: ['--mode=production'] });
    expect(hidden("A='8080'\nB='production'\nC='development'\n", keeper)).toBe(
      "A='8080'\nB='production'\nC='<secret 3>'\n",
    );
  });
});
