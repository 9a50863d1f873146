import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { killProcess } from '../support/kill-process.js';
import { type Daemon, it } from './daemon.js';
import { eventually } from './eventually.js';
import { manifest, type PodOf, SLEEP } from './manifests.js';
import { configMap, secret } from './objects.js';

const SECRET = 'hunter2-is-the-value';

/** A pod that notes the variable VALUE at each start, and sleeps. */
const noting = (name: string, container: object): PodOf => ({
  name,
  containers: [{ ...container, script: `echo "$VALUE" >> "$DIR/values-${name}"; ${SLEEP}` }],
});
const fromConfigMap = { envFrom: [{ configMapRef: { name: 'settings' } }] };

const write = (daemon: Daemon, file: string, ...documents: readonly string[]): void =>
  daemon.write(file, `${documents.join('\n---\n')}\n`);

const isAt = (daemon: Daemon, name: string, values: readonly string[]) =>
  eventually(`${name} has started with ${values.join()}`, () => {
    expect(daemon.lines(`values-${name}`)).toEqual(values);
    return true;
  });

/** Everything that a user or another program may read of the agent. */
const shownBy = async (daemon: Daemon, recording: string): Promise<string> => {
  const root = ['--root-dir', daemon.rootDir];
  const outputs = await Promise.all([
    daemon.run('pods', ...root),
    daemon.run('why', 'secretive-node1', ...root),
    daemon.run('timeline', 'secretive-node1', ...root),
    daemon.run('plan', daemon.manifests, '-o', 'json'),
    daemon.run('validate', daemon.manifests, '-o', 'json'),
  ]);
  for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toBe('');
  const journal = readdirSync(join(daemon.rootDir, 'journal')).map((file) =>
    readFileSync(join(daemon.rootDir, 'journal', file), 'utf8'),
  );
  const recorded = readFileSync(recording);
  const entries = recorded[0] === 0x1f ? gunzipSync(recorded).toString() : recorded.toString();
  expect(entries).toContain('<secret ');
  const pods = (await daemon.get('/pods')).body;
  return [daemon.log, pods, entries, ...journal, ...outputs.flatMap(({ stdout, stderr }) => [stdout, stderr])].join(
    '\n',
  );
};

describe.concurrent('ConfigMaps and Secrets of manifests', () => {
  it('are the environment of pods, and a Secret is shown nowhere', async ({ daemon }) => {
    const recording = join(daemon.directory, 'node.rec');
    const secretive = {
      name: 'secretive',
      containers: [
        {
          env: [
            { name: 'VALUE', valueFrom: { secretKeyRef: { name: 'keys', key: 'value' } } },
            { name: 'NONE', valueFrom: { configMapKeyRef: { name: 'none', key: 'a', optional: true } } },
          ],
          envFrom: [{ secretRef: { name: 'keys', optional: true } }, { configMapRef: { name: 'settings' } }],
          script: `echo "$VALUE $value $LEVEL $NONE" >> "$DIR/values-secretive"; ${SLEEP}`,
        },
      ],
    };
    write(daemon, 'a.yaml', manifest(daemon.directory, secretive));
    write(daemon, 'b.yaml', secret('keys', { value: SECRET }), configMap('settings', { LEVEL: 'low' }));
    await daemon.start('--record', recording);
    await isAt(daemon, 'secretive', [`${SECRET} ${SECRET} low `]);

    expect(await shownBy(daemon, recording)).not.toContain('hunter2');

    // A broken version of the Secret, and a duplicate.
    write(daemon, 'b.yaml', secret('keys', { value: SECRET }).replace(`"${SECRET}"`, `{"${SECRET}": "${SECRET}"}`));
    write(daemon, 'c.yaml', secret('keys', { value: `${SECRET}-2` }));
    await eventually('the problems are logged', () => {
      const messages = daemon.logged().map(({ message }) => message);
      expect(messages).toContainEqual(expect.stringMatching(/b\.yaml:1:\d+: stringData\.value: is a mapping/));
      expect(messages).toContainEqual(expect.stringMatching(/c\.yaml: Secret default\/keys is ignored/));
      return true;
    });
    expect(await shownBy(daemon, recording)).not.toContain('hunter2');

    expect((await daemon.kill('SIGTERM')).code).toBe(0);
    const { stdout } = await daemon.run('replay', recording);
    expect(stdout).toContain('no difference');
    const recorded = readFileSync(recording);
    expect((recorded[0] === 0x1f ? gunzipSync(recorded) : recorded).toString()).not.toContain('hunter2');
  });

  it('may come after the pod that waits for them', async ({ daemon }) => {
    daemon.apply(noting('late', fromConfigMap));
    await daemon.start();
    await eventually('the status names the missing object', async () => {
      const [pod] = await daemon.shownPods();
      expect(pod?.status?.containerStatuses?.[0]?.state?.waiting).toEqual({
        reason: 'CreateContainerConfigError',
        message: 'configmap "settings" not found',
      });
      return true;
    });
    const why = await daemon.run('why', 'late-node1', '--root-dir', daemon.rootDir);
    expect(why.stdout).toContain('configmap "settings" not found');

    write(daemon, 'settings.yaml', configMap('settings', { VALUE: 'now' }));
    await isAt(daemon, 'late', ['now']);
    // It did not wait for the next try.
    await eventually('the change has started it', () => {
      const entries = daemon.journal();
      const started = entries.findIndex((entry) => entry.kind === 'call' && entry.call === 'StartContainer');
      const run = entries.slice(0, started).findLast(({ kind }) => kind === 'sync-started');
      const refresh = entries.find((entry) => entry.kind === 'config' && entry.op === 'REFRESH');
      expect(run?.causes).toContain(refresh?.id ?? 'there was none');
      return true;
    });
  });

  it('change without harm to the pods that run, which have the new values when they start again', async ({
    daemon,
  }) => {
    write(daemon, 'settings.yaml', configMap('settings', { VALUE: 'old' }));
    daemon.apply(noting('user', fromConfigMap));
    await daemon.start();
    await isAt(daemon, 'user', ['old']);
    const before = await daemon.reached('user', 'CONTAINER_RUNNING');

    write(daemon, 'settings.yaml', configMap('settings', { VALUE: 'new' }));
    const refreshed = (count: number) =>
      eventually('the pod was synced for it', () => {
        const entries = daemon.journal();
        const ids = entries.flatMap((entry) => (entry.kind === 'config' && entry.op === 'REFRESH' ? [entry.id] : []));
        const ended = entries.filter(
          ({ kind, causes }) => kind === 'sync-started' && causes.some((id) => ids.includes(id)),
        );
        expect([ids.length, ended.length]).toEqual([count, count]);
        return true;
      });
    await refreshed(1);
    expect(await daemon.reached('user', 'CONTAINER_RUNNING')).toMatchObject({ id: before.id });

    // A slip of the pen loses nothing: neither the pod nor its configuration.
    write(daemon, 'settings.yaml', configMap('settings', { VALUE: 'bad' }).replace('"bad"', '5'));
    await eventually('the log names the line', () => {
      expect(daemon.logged().map(({ message }) => message)).toEqual(
        expect.arrayContaining([
          expect.stringMatching(
            /settings\.yaml:1:\d+: data\.VALUE: is the number 5; put it in quotes \(expected a string\)$/,
          ),
          expect.stringMatching(
            /settings\.yaml: until this is repaired, ConfigMap default\/settings stays as last read$/,
          ),
        ]),
      );
      return true;
    });
    expect(await daemon.reached('user', 'CONTAINER_RUNNING')).toMatchObject({ id: before.id });
    killProcess((await daemon.processOf('user')).pid);
    await isAt(daemon, 'user', ['old', 'new']);
  });

  it('belong to a node without an API server: a token is refused with the reason', async ({ daemon }) => {
    const token = { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } };
    daemon.apply({ name: 'tokens', volumes: [token] });
    const { code, stdout } = await daemon.run('validate', daemon.manifests);
    expect(code).toBe(1);
    expect(stdout).toContain('only an API server issues the tokens of service accounts');
  });
});
