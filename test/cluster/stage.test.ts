import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { ApiObject } from '../../src/model/kube-api/api-object.js';
import { configMapsPath, nodesPath, podsPath, serviceAccountTokenPath } from '../../src/model/kube-api/api-paths.js';
import type { Pod } from '../../src/model/pod/pod.js';
import { eventually } from '../embedded/eventually.js';
import { describeProcess, processesNaming } from '../embedded/processes.js';
import { ApiProxy } from '../support/api-proxy.js';
import { ApiUser, Refusal } from './api-user.js';
import { type AuditEntry, trespasses } from './audit.js';
import { Cluster, stageScript } from './cluster.js';
import { overCluster } from './missing.js';
import { sharedCluster } from './one-node.js';

const run = promisify(execFile);

const pod = (name: string, nodeName: string, more: object = {}): object => ({
  metadata: { name },
  spec: { nodeName, containers: [{ name: 'main', image: 'none', ...more }] },
});
const aNode = (name: string): object => ({ metadata: { name, labels: { 'kubernetes.io/hostname': name } } });

overCluster('the stage itself', () => {
  it('goes on from where it was killed, on the same data, and leaves nothing', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'rxc-'));
    const folder = join(parent, 'cluster');
    try {
      const up = spawn(stageScript('up.sh'), [folder], { stdio: 'ignore' });
      const gone = once(up, 'exit');
      await eventually('there is an etcd', () => existsSync(join(folder, 'etcd.log')));
      up.kill('SIGKILL');
      await gone;
      const { stdout } = await run(stageScript('up.sh'), [folder]);
      const before = processesNaming([`${folder}/`]);
      expect(before).toHaveLength(2);
      // With all of it there, nothing changes.
      expect((await run(stageScript('up.sh'), [folder])).stdout).toBe(stdout);
      expect(processesNaming([`${folder}/`])).toEqual(before);
      const cluster = await Cluster.up(folder);
      const path = configMapsPath(await cluster.namespace('data'));
      await cluster.admin.create(path, { metadata: { name: 'kept' }, data: { is: 'there' } });
      await cluster.kill();
      await expect(cluster.admin.find(`${path}/kept`)).rejects.toThrow(/ECONN|socket disconnected|socket hang up/);
      await cluster.restart();
      expect(await cluster.admin.find(`${path}/kept`)).toMatchObject({ data: { is: 'there' } });
      cluster.close();
    } finally {
      await run(stageScript('down.sh'), [folder]);
    }
    expect(existsSync(folder)).toBe(false);
    expect(processesNaming([folder]).map(describeProcess)).toEqual([]);
    // Once more is no mistake.
    await run(stageScript('down.sh'), [folder]);
    rmSync(parent, { recursive: true });
  });

  it('gives nodes what is theirs and no more, and notes what they ask for', async () => {
    const cluster = await sharedCluster();
    const namespace = await cluster.namespace('rights');
    for (const name of ['right', 'wrong']) await cluster.kubeconfig(name);
    const [right, wrong] = [cluster.as('node-right'), cluster.as('node-wrong')];
    await right.create(nodesPath(), aNode('right'));
    await wrong.create(nodesPath(), aNode('wrong'));
    await expect(wrong.create(nodesPath(), aNode('third'))).rejects.toThrow(Refusal);

    const env = [{ name: 'V', valueFrom: { configMapKeyRef: { name: 'settings', key: 'v' } } }];
    await cluster.admin.create(configMapsPath(namespace), { metadata: { name: 'settings' }, data: { v: '1' } });
    const bound = await cluster.admin.create<Pod>(podsPath(namespace), pod('bound', 'right', { env }));
    // Without a token of its own: nothing is mounted.
    expect(bound.spec).toMatchObject({ serviceAccountName: 'default' });
    expect(bound.spec.volumes ?? []).toEqual([]);
    const settings = `${configMapsPath(namespace)}/settings`;
    await eventually('the node may read what its pod refers to', () => right.get(settings));
    await expect(wrong.get(settings)).rejects.toThrow('no relationship found');
    const status = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    await right.patch(`${podsPath(namespace)}/bound/status`, status);
    await expect(wrong.patch(`${podsPath(namespace)}/bound/status`, status)).rejects.toThrow(Refusal);

    const token = {
      spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'bound', uid: bound.metadata.uid } },
    };
    const path = serviceAccountTokenPath(namespace, 'default');
    const made = await right.create<ApiObject & { readonly status: { readonly token: string } }>(path, token);
    await expect(wrong.create(path, token)).rejects.toThrow(Refusal);
    const asPod = new ApiUser(cluster.address, { ca: cluster.credentials('admin').ca, token: made.status.token });
    await expect(asPod.list(podsPath(namespace))).rejects.toThrow('system:serviceaccount:rights:default');

    await eventually('all of it is noted', () => {
      expect(trespasses(cluster.audit(), 'right')).toEqual([]);
      const noted = trespasses(cluster.audit(), 'wrong');
      for (const what of ['create nodes', 'get configmaps rights settings', 'patch pods status rights bound']) {
        expect(
          noted.some((line) => line.startsWith(what) && line.includes(': 403 ')),
          what,
        ).toBe(true);
      }
      return true;
    });
    for (const user of [right, wrong, asPod]) user.close();
    cluster.close();
  });

  it('may have a proxy in front of it that does what a test asks for', async () => {
    const cluster = await sharedCluster();
    const path = configMapsPath(await cluster.namespace('proxied'));
    const { ca, ...front } = cluster.credentials('server');
    const { cert, key } = cluster.credentials('admin');
    const proxy = await ApiProxy.start({ server: cluster.address, ca, front, back: { cert, key } });
    const user = new ApiUser(proxy.address, { ca, cert, key });
    try {
      const make = (name: string): Promise<ApiObject> => user.create(path, { metadata: { name } });
      const { resourceVersion } = (await make('first')).metadata;
      await make('passed');
      proxy.decide = ({ name }) => (name === 'refused' ? { kind: 'refused', code: 503, reason: 'Away' } : undefined);
      await expect(user.get(`${path}/refused`)).rejects.toMatchObject({ code: 503, reason: 'Away' });
      expect(await user.get(`${path}/passed`)).toMatchObject({ metadata: { name: 'passed' } });
      proxy.decide = ({ verb }) => (verb === 'create' ? { kind: 'reset', when: 'before' } : undefined);
      await expect(make('before')).rejects.toThrow();
      proxy.decide = ({ verb }) => (verb === 'create' ? { kind: 'reset', when: 'after' } : undefined);
      await expect(make('after')).rejects.toThrow();
      expect(await user.find(`${path}/before`)).toBeUndefined();
      expect(await user.find(`${path}/after`)).toBeDefined();
      proxy.decide = ({ verb }) => (verb === 'get' ? { kind: 'stalled', ms: 100 } : undefined);
      await expect(user.get(`${path}/passed`)).rejects.toThrow();

      const namesOf = async (wanted: number): Promise<readonly string[]> => {
        const watched = await user.watch(`${path}?resourceVersion=${resourceVersion}`);
        await eventually('the watch is over', () => watched.events.length >= wanted);
        watched.close();
        return watched.events.map(({ type, object }) =>
          (type as string) === 'ERROR' ? 'ERROR' : (object.metadata.name ?? ''),
        );
      };
      proxy.decide = () => undefined;
      expect(await namesOf(2)).toEqual(['passed', 'after']);
      proxy.decide = () => ({ kind: 'reordered', waitMs: 60_000 });
      expect(await namesOf(2)).toEqual(['after', 'passed']);
      proxy.decide = () => ({ kind: 'expired', afterLines: 1 });
      expect(await namesOf(2)).toEqual(['passed', 'ERROR']);
      proxy.decide = () => ({ kind: 'cut', afterLines: 1, inLine: true });
      expect(await namesOf(1)).toEqual(['passed']);
    } finally {
      user.close();
      await proxy.close();
      cluster.close();
    }
  });
});

it('a binary that is not there is said to be missing', async () => {
  const env = { ...process.env, KUBE_APISERVER: '/no/kube-apiserver' };
  const asked = run(stageScript('build.sh'), [], { env });
  await expect(asked).rejects.toThrow('KUBE_APISERVER: there is no /no/kube-apiserver');
});

it.each([
  { what: 'a node that it is not', verb: 'patch', resource: 'nodes', codes: [403], found: 1 },
  { what: 'a secret that it never gets', verb: 'get', resource: 'secrets', codes: [403, 403], found: 2 },
  { what: 'a secret that it gets later', verb: 'get', resource: 'secrets', codes: [403, 200], found: 0 },
  { what: 'a secret that it has lost by then', verb: 'get', resource: 'secrets', codes: [200, 403], found: 0 },
  { what: 'a secret that is not there', verb: 'get', resource: 'secrets', codes: [403, 404], found: 0 },
  { what: 'a pod that it gets later', verb: 'get', resource: 'pods', codes: [403, 200], found: 1 },
  { what: 'anything without a user', verb: 'list', resource: 'pods', codes: [401], found: 1 },
])('asking for $what is noticed', ({ verb, resource, codes, found }) => {
  const entry = (username: string, code: number): AuditEntry => ({
    ...{ stage: 'ResponseComplete', verb, requestURI: '/', user: { username } },
    objectRef: { resource, namespace: 'default', name: 'one' },
    responseStatus: { code },
  });
  const entries = codes.map((code) => entry('system:node:a', code));
  expect(trespasses(entries, 'a')).toHaveLength(found);
  expect(trespasses(entries, 'b')).toEqual([]);
});
