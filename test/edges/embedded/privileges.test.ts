import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { boundingSetOf } from '../../../src/runtime/embedded/launch/capabilities.js';
import { LinuxContainerSecurityContext } from '../../../src/generated/runtime/v1/api.js';
import { isRoot, RuntimeUnderTest } from './runtime-under-test.js';

const contextOf = (add: string[], drop: string[], privileged = false): LinuxContainerSecurityContext =>
  LinuxContainerSecurityContext.fromPartial({
    privileged,
    capabilities: { addCapabilities: add, dropCapabilities: drop },
  });

it.each<[string[], string[], string | undefined]>([
  [[], [], undefined],
  [['NET_ADMIN'], [], undefined],
  [['ALL'], [], undefined],
  [[], ['ALL'], '-all'],
  [[], ['all'], '-all'],
  [['NET_BIND_SERVICE', 'CAP_CHOWN'], ['ALL'], '-all,+net_bind_service,+chown'],
  [['ALL'], ['ALL'], '-all'],
  [['KILL', 'CHOWN'], ['ALL', 'KILL'], '-all,+chown'],
  [['ALL'], ['NET_RAW', 'cap_mknod'], '-net_raw,-mknod'],
])('with %j added and %j dropped the bounding set is %s', (add, drop, expected) => {
  expect(boundingSetOf(contextOf(add, drop))).toBe(expected);
});

it('is that of the runtime for a privileged container, and nothing for an unknown name', () => {
  expect(boundingSetOf(contextOf([], ['ALL'], true))).toBe(undefined);
  expect(() => boundingSetOf(contextOf([], ['-all,+chown']))).toThrow(
    'capabilities.drop: unknown capability "-all,+chown"',
  );
});

const users = isRoot
  ? [
      { who: 'root', uid: undefined },
      { who: 'an ordinary user', uid: 65534 },
    ]
  : [{ who: 'this user', uid: undefined }];

describe.each(users)('what a container may do, run by $who', ({ uid }) => {
  const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
  let sandbox: string;
  beforeAll(async () => {
    await host.start();
    sandbox = await host.sandbox('privileges');
  });
  afterAll(() => host.dispose());

  const run = (name: string, script: string, securityContext: object, more: object = {}) =>
    host.run(sandbox, script, { metadata: { name, attempt: 0 }, linux: { securityContext }, ...more });
  const outputOf = async (...asked: Parameters<typeof run>): Promise<string> => {
    const { logPath } = await host.exited(await run(...asked));
    return host.output(logPath) + host.output(logPath, 'stderr');
  };
  // Loudly skipped without root, and absent where another test has root.
  const asRoot = isRoot ? (uid === undefined ? it : undefined) : it.skip;
  const LOOK = "sed -n 's/^\\(Cap[IPEB][a-z]*\\|NoNewPrivs\\):\\t*//p' /proc/self/status | tr '\\n' ' '";
  const NONE = '0000000000000000';

  it('cannot gain privileges where that is forbidden', async () => {
    const script = 'grep NoNewPrivs /proc/self/status';
    expect(await outputOf('forbidden', script, { noNewPrivs: true })).toBe('NoNewPrivs:\t1\n');
    expect(await outputOf('allowed', script, {})).toBe('NoNewPrivs:\t0\n');
  });

  asRoot?.('has the capabilities that are left, as root and as another user', async () => {
    const capabilities = { dropCapabilities: ['ALL'], addCapabilities: ['CHOWN', 'NET_BIND_SERVICE'] };
    const left = '0000000000000401';
    expect(await outputOf('left', LOOK, { capabilities })).toBe(`${NONE} ${left} ${left} ${left} 0 `);
    const runAsUser = { value: 1234n };
    const asUser = { capabilities, runAsUser, noNewPrivs: true };
    expect(await outputOf('left-user', LOOK, asUser)).toBe(`${NONE} ${NONE} ${NONE} ${left} 1 `);
    const none = { capabilities: { dropCapabilities: ['ALL'] } };
    expect(await outputOf('none', 'chown 1 /proc/self/comm; exec chroot / true', none)).toMatch(
      /Operation not permitted[^]*Operation not permitted/,
    );
    const beside = await run('beside', 'exec sleep 60', none);
    const { stdout } = await host.runtime.execSync({ containerId: beside, cmd: ['sh', '-c', LOOK], timeout: 20n });
    expect(stdout.toString()).toBe(`${NONE} ${NONE} ${NONE} ${NONE} 0 `);
    await expect(run('nonsense', 'true', { capabilities: { dropCapabilities: ['NONSENSE'] } })).rejects.toMatchObject({
      code: 3,
      details: expect.stringContaining('unknown capability "NONSENSE"') as string,
    });
  });

  asRoot?.('cannot write to the machine below a root that is read-only', async () => {
    const [data, seen, onto] = ['data', 'seen', 'onto'].map((name) => join(host.directory, name)) as [
      string,
      string,
      string,
    ];
    for (const directory of [data, seen, onto]) mkdirSync(directory);
    writeFileSync(join(seen, 'file'), 'seen\n');
    const mounts = [
      // The same path on both sides is no mount where all is writable.
      { hostPath: data, containerPath: data },
      { hostPath: seen, containerPath: onto, readonly: true },
    ];
    const script = `
      for file in /rx-new /tmp/rx-new /var/tmp/rx-new /run/rx-new ${host.directory}/new ${seen}/new ${onto}/new; do
        { echo x > $file; } 2>/dev/null && echo "written: $file"
      done
      cat ${onto}/file
      echo kept > ${data}/file && echo x > /dev/null && echo done
      exec sleep 60`;
    const id = await run('readonly', script, { readonlyRootfs: true }, { mounts });
    const { logPath } = await host.status(id);
    const said = async () => {
      const exec = { containerId: id, timeout: 20n, cmd: ['sh', '-c', ': > /tmp/rx-new'] };
      return (await host.runtime.execSync(exec)).stderr.toString();
    };
    expect(await said()).toContain('Read-only file system');
    const missing = host.runtime.execSync({ containerId: id, timeout: 20n, cmd: ['no-such-program'] });
    await expect(missing).rejects.toThrow('exec: "no-such-program": executable file not found in $PATH');
    await host.runtime.stopContainer({ containerId: id, timeout: 0n });
    expect(host.output(logPath)).toBe('seen\ndone\n');
    expect(readFileSync(join(data, 'file'), 'utf8')).toBe('kept\n');
    // Neither the machine nor another container of the pod has become read-only.
    writeFileSync(join(seen, 'file'), 'written\n');
    expect(await outputOf('writable', `echo x > ${seen}/new && echo done`, {})).toBe('done\n');
    expect(readFileSync('/proc/self/mounts', 'utf8')).not.toContain(host.directory);
  });
});
