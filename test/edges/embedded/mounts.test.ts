import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContainerConfig, DeepPartial, Mount } from '../../../src/generated/runtime/v1/api.js';
import { isRoot, RuntimeUnderTest, tracesOf } from './runtime-under-test.js';

type Mounts = readonly DeepPartial<Mount>[];
const host = new RuntimeUnderTest();
let pod: string;
let count = 0;
/** A new directory of the machine for one test. */
const place = (): string => {
  count += 1;
  const path = join(host.directory, `place-${count}`);
  mkdirSync(path);
  return path;
};
/** A path below the root directory that the machine does not have. */
const absent = (): string => `/rx-embedded-${process.pid}-${(count += 1)}`;
const mounted: string[] = [];
/** What the tests have left on the machine, except their own directory. */
const traces = (): string[] => [
  ...tracesOf(`/rx-embedded-${process.pid}`),
  ...tracesOf(host.directory).filter((line) => !mounted.some((path) => line.includes(` ${path} `))),
];
const create = (script: string, mounts: Mounts, more: DeepPartial<ContainerConfig> = {}): Promise<string> =>
  host.create(pod, script, { metadata: { name: `c-${(count += 1)}`, attempt: 0 }, mounts: [...mounts], ...more });
const start = async (script: string, mounts: Mounts, more: DeepPartial<ContainerConfig> = {}): Promise<string> => {
  const containerId = await create(script, mounts, more);
  await host.runtime.startContainer({ containerId });
  return containerId;
};
const outputOf = async (script: string, mounts: Mounts, more: DeepPartial<ContainerConfig> = {}): Promise<string> => {
  const { logPath, exitCode, message } = await host.exited(await start(`exec 2>&1\n${script}`, mounts, more));
  expect([exitCode, message]).toEqual([0, '']);
  return host.output(logPath);
};
const inside = async (containerId: string, script: string): Promise<string> => {
  const cmd = ['/bin/sh', '-c', `exec 2>&1\n${script}`];
  return (await host.runtime.execSync({ containerId, cmd, timeout: 20n })).stdout.toString();
};
const refusalOf = (mounts: Mounts): Promise<unknown> =>
  create('true', mounts).then(
    () => 'created',
    (error: { code: number; details: string }) => `${error.code} ${error.details}`,
  );
/** Every file below the directory on the same file system, with its kind, mode, owner, size and target. */
const LISTING = 'find . -xdev ! -path . -printf "%y %m %U %G %p %l\\n" | LC_ALL=C sort';
const listing = (directory: string): string =>
  execFileSync('/bin/sh', ['-c', LISTING], { cwd: directory, encoding: 'utf8' });
/** Mounts on the machine itself, until the end of the test file. */
const mount = (target: string, ...args: string[]): void => {
  execFileSync('mount', [...args, target]);
  if (args.includes('-t')) mounted.push(target);
};

describe.runIf(isRoot)('mounts of a container', () => {
  beforeAll(async () => {
    await host.start();
    pod = await host.sandbox('mounts');
  });
  afterAll(async () => {
    for (const path of mounted.toReversed()) execFileSync('umount', ['-l', path]);
    expect(traces()).toEqual([]);
    await host.dispose();
  });

  it('appear at a path that the machine does not have, for this container alone', async () => {
    const [data, shared, path] = [place(), place(), absent()];
    writeFileSync(join(data, 'file'), 'content\n');
    chmodSync(join(data, 'file'), 0o640);
    chownSync(join(data, 'file'), 1234, 4321);
    const mounts = [{ hostPath: data, containerPath: `${path}/deep/down` }];
    const other = absent();
    const second = await start('exec sleep 1000', [{ hostPath: data, containerPath: other }]);
    const id = await start(
      `cat ${path}/deep/down/file; stat -c '%a %u %g' ${path}/deep/down/file ${path}; id -u
      echo new > ${path}/deep/down/new; echo shared > ${shared}/new
      exec sleep 1000`,
      mounts,
    );
    const list = 'for name in /* /.[!.]*; do [ -e "$name" ] && echo "$name"; done';
    const machine = execFileSync('/bin/sh', ['-c', list], { encoding: 'utf8' }).split('\n');
    expect((await inside(id, list)).split('\n').toSorted()).toEqual([...machine, path].toSorted());
    expect((await inside(second, list)).split('\n').toSorted()).toEqual([...machine, other].toSorted());
    expect(traces()).toEqual([]);
    expect(await inside(id, 'stat -c "%a %u %g" /; mkdir /rx-own && rmdir /rx-own && echo writable')).toBe(
      `${execFileSync('stat', ['-c', '%a %u %g', '/'], { encoding: 'utf8' })}writable\n`,
    );
    const { logPath } = await host.status(id);
    expect(host.output(logPath)).toBe('content\n640 1234 4321\n755 0 0\n0\n');
    expect(readFileSync(join(data, 'new'), 'utf8')).toBe('new\n');
    expect(readFileSync(join(shared, 'new'), 'utf8')).toBe('shared\n');
    const seen = (await inside(id, 'cat /proc/self/mountinfo')).split('\n').map((line) => line.split(' '));
    expect(seen.filter(([, , , , point]) => point === `${path}/deep/down`)).toHaveLength(1);
    expect(
      seen.filter(([, , , , point]) => point?.includes('old-root') === true || point?.endsWith('/mounts')),
    ).toEqual([]);
    expect(await outputOf(`[ ! -e ${path} ] && [ ! -e ${other} ] && echo none`, [])).toBe('none\n');
    for (const containerId of [id, second]) await host.runtime.removeContainer({ containerId });
    expect(traces()).toEqual([]);
  });

  it('leave every file of a directory as it is, and the directory of the machine too', async () => {
    const [directory, data] = [place(), place()];
    chmodSync(directory, 0o1777);
    chownSync(directory, 12, 34);
    const odd = [
      'with space',
      'back\\slash',
      'new\nline',
      '-dash',
      '#hash',
      '*',
      '.hidden',
      '..twodots',
      'ümlaut',
      'a,b:c',
    ];
    for (const name of odd) {
      writeFileSync(join(directory, `${name}.file`), name);
      mkdirSync(join(directory, name));
      writeFileSync(join(directory, name, 'inner'), name);
      symlinkSync(name, join(directory, `${name}.link`));
    }
    for (let index = 0; index < 230; index += 1) mkdirSync(join(directory, `many-${index}`));
    symlinkSync('nowhere', join(directory, 'dangling'));
    execFileSync('mkfifo', [join(directory, 'fifo')]);
    execFileSync('mknod', [join(directory, 'null'), 'c', '1', '3']);
    chmodSync(join(directory, '.hidden.file'), 0o600);
    chownSync(join(directory, '-dash.file'), 77, 88);
    const listed = listing(directory);
    const mounts = [
      { hostPath: join(data), containerPath: join(directory, 'volume') },
      { hostPath: join(directory, '*.file'), containerPath: join(directory, 'one file') },
    ];
    const id = await start('exec sleep 1000', mounts);
    const list = `cd ${directory}; find . ! -path . ! -path ./volume ! -path './one file' -printf "%y %m %U %G %p %l\\n" | LC_ALL=C sort`;
    expect(await inside(id, list)).toBe(listed);
    expect(await inside(id, `stat -c '%a %u %g' ${directory}; cat '${directory}/one file'`)).toBe('1777 12 34\n*');
    await inside(
      id,
      `cd ${directory}; for name in ./*.file ./.*.file; do echo x > "$name"; done; echo x > './with space/new'`,
    );
    for (const name of odd) expect(readFileSync(join(directory, `${name}.file`), 'utf8')).toBe('x\n');
    // The machine's own changes below an entry appear in the container.
    writeFileSync(join(directory, '-dash', 'later'), 'later');
    expect(await inside(id, `cat ${directory}/-dash/later`)).toBe('later');
    expect(existsSync(join(directory, 'with space', 'new'))).toBe(true);
    rmSync(join(directory, 'with space', 'new'));
    rmSync(join(directory, '-dash', 'later'));
    expect(listing(directory)).toBe(listed);
  });

  it('may be below one another, in any order, also where the outer one has no mount point', async () => {
    const [data, inner, file, path] = [place(), place(), join(place(), 'file'), absent()];
    writeFileSync(join(data, 'of-data'), '');
    writeFileSync(join(inner, 'of-inner'), '');
    writeFileSync(file, 'file\n');
    const mounts = [
      { hostPath: file, containerPath: `${path}/sub/deep/config` },
      { hostPath: inner, containerPath: `${path}/sub` },
      { hostPath: file, containerPath: `${path}-other` },
      { hostPath: data, containerPath: path },
    ];
    expect(await outputOf(`cd ${path}; find . | LC_ALL=C sort; cat sub/deep/config ${path}-other`, mounts)).toBe(
      '.\n./of-data\n./sub\n./sub/deep\n./sub/deep/config\n./sub/of-inner\nfile\nfile\n',
    );
    // Mount points inside of a volume stay in it, as with containerd.
    expect(listing(data)).toBe('d 755 0 0 ./sub \nf 644 0 0 ./of-data \n');
    expect(listing(inner)).toBe('d 755 0 0 ./deep \nf 644 0 0 ./deep/config \nf 644 0 0 ./of-inner \n');
    expect(readFileSync(join(inner, 'deep/config'), 'utf8')).toBe('');
  });

  it('follow the links of the machine and of a volume as the kernel does', async () => {
    const [directory, data, volume] = [place(), place(), place()];
    writeFileSync(join(data, 'file'), '');
    mkdirSync(join(directory, 'real'));
    symlinkSync('real', join(directory, 'link'));
    symlinkSync('absent/below', join(directory, 'dangling'));
    symlinkSync('loop', join(directory, 'loop'));
    symlinkSync(join(directory, 'real'), join(volume, 'out'));
    const at = (containerPath: string) => ({ hostPath: data, containerPath });
    const mounts = [
      at(`${directory}/link/one/two`),
      at(`${directory}/dangling`),
      { hostPath: volume, containerPath: `${directory}/volume` },
      at(`${directory}/volume/out/three`),
    ];
    const listed = listing(directory);
    expect(
      await outputOf(
        `cd ${directory}; ls -d real/one/two/file absent/below/file dangling/file real/three/file`,
        mounts,
      ),
    ).toBe('absent/below/file\ndangling/file\nreal/one/two/file\nreal/three/file\n');
    expect(await refusalOf([at(`${directory}/loop/x`)])).toMatch(/too many levels of symbolic links/);
    expect(listing(directory)).toBe(listed);
  });

  it('are refused where no mount point can be', async () => {
    const [data, directory] = [place(), place()];
    writeFileSync(join(data, 'file'), '');
    const at = (containerPath: string, more: DeepPartial<Mount> = {}) => ({ hostPath: data, containerPath, ...more });
    const file = join(data, 'file');
    expect(await refusalOf([at('/etc/passwd/below')])).toMatch(/^3 .*: \/etc\/passwd is not a directory$/);
    expect(await refusalOf([at('/etc/passwd')])).toMatch(/one is a directory and the other is not/);
    expect(await refusalOf([at('/proc/rx-new')])).toMatch(
      /\/proc\/rx-new cannot be made in a file system of the kernel/,
    );
    expect(await refusalOf([at('/')])).toMatch(/the root directory of a container cannot be a mount/);
    expect(
      await refusalOf([at(directory, { readonly: true }), { hostPath: file, containerPath: `${directory}/new` }]),
    ).toMatch(/does not exist in the mount at .*, which is read-only$/);
    expect(await refusalOf([{ ...at('/mnt'), hostPath: '', image: { image: 'registry.example/data:1' } }])).toMatch(
      /image volumes are not supported by the embedded runtime, which has no images \("registry.example\/data:1" cannot be mounted\)/,
    );
    expect(await refusalOf([at('/mnt', { propagation: 'PROPAGATION_BIDIRECTIONAL' })])).toMatch(
      /mounts of a container never reach the machine$/,
    );
    expect(await refusalOf([at('/mnt', { recursiveReadOnly: true })])).toMatch(/needs a read-only mount$/);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('are refused where the directory above has too many entries', async () => {
    const directory = place();
    for (let index = 0; index <= 5_000; index += 1) writeFileSync(join(directory, String(index)), '');
    const mounts = [{ hostPath: place(), containerPath: join(directory, 'new') }];
    expect(await refusalOf(mounts)).toMatch(/which has more than 5000 entries; make it on the machine$/);
  });

  it('have their sources from the machine, also those that an earlier mount hides', async () => {
    const [data, directory] = [place(), place()];
    writeFileSync(join(data, 'file'), 'file\n');
    const id = await start('exec sleep 1000', [
      // Hides the source of the next one, and the files of the runtime.
      { hostPath: place(), containerPath: host.directory },
      { hostPath: data, containerPath: `${host.directory}/data` },
    ]);
    expect(await inside(id, `cat ${host.directory}/data/file; ls ${host.directory}`)).toBe('file\ndata\n');
    await expect(host.runtime.execSync({ containerId: id, cmd: ['no-such-program'], timeout: 20n })).rejects.toThrow(
      'exec: "no-such-program": executable file not found in $PATH',
    );
    const around = [
      { hostPath: data, containerPath: `${directory}/absent` },
      { hostPath: host.directory, containerPath: '/mnt' },
    ];
    const script = `ls ${directory}; ls /mnt/${basename(directory)}; cat /mnt/${basename(data)}/file`;
    expect(await outputOf(script, around)).toBe('absent\nfile\n');
  });

  it('show the whole machine if it is mounted', async () => {
    const [data, path] = [place(), absent()];
    writeFileSync(join(data, 'file'), 'file\n');
    const id = await start('exec sleep 1000', [{ hostPath: '/', containerPath: path }]);
    expect((await inside(id, `ls -A ${path}`)).trim().split('\n').toSorted()).toEqual(readdirSync('/').toSorted());
    expect(await inside(id, `cat ${path}${data}/file`)).toBe('file\n');
  });

  it.each([true, false])(
    'make no mount point outside of a volume in which a link has appeared (in place of a directory: %s)',
    async (replaces) => {
      const [volume, outside, path] = [place(), place(), absent()];
      if (replaces) mkdirSync(join(volume, 'sub'));
      const containerId = await create('true', [
        { hostPath: volume, containerPath: path },
        { hostPath: place(), containerPath: `${path}/sub/new` },
      ]);
      if (replaces) renameSync(join(volume, 'sub'), join(volume, 'away'));
      symlinkSync(outside, join(volume, 'sub'));
      await expect(host.runtime.startContainer({ containerId })).rejects.toThrow(
        `the mount point ${path}/sub/new could not be made`,
      );
      expect(readdirSync(outside)).toEqual([]);
    },
  );

  it('may be in the directory that holds the files of the runtime', async () => {
    const point = join(host.directory, 'absent', 'below');
    const id = await start('exec sleep 1000', [{ hostPath: place(), containerPath: point }]);
    expect((await inside(id, `ls ${host.directory}`)).trim().split('\n').toSorted()).toEqual(
      [...readdirSync(host.directory), 'absent'].toSorted(),
    );
    expect(await inside(id, `find ${host.stateDirectory} -name '*.list' | wc -l`)).not.toBe('0\n');
    expect(existsSync(join(host.directory, 'absent'))).toBe(false);
  });

  it('show a file system that was mounted on the machine after the start of the pod', async () => {
    const [late, path] = [place(), absent()];
    mount(late, '-t', 'tmpfs', '-o', 'mode=770,nosuid,noexec,size=64k', 'tmpfs');
    writeFileSync(join(late, 'file'), 'in memory\n');
    const options = `grep -- ' ${path} ' /proc/self/mountinfo | cut -d' ' -f6,9-`;
    const script = `cat ${path}/file; stat -c %a ${path}; ${options}; echo x > ${path}/new || echo refused`;
    const mountOf = (readonly: boolean) => [{ hostPath: late, containerPath: path, readonly }];
    expect(await outputOf(script, mountOf(false))).toMatch(/^in memory\n770\nrw,nosuid,noexec,.*tmpfs rw,size=64k/);
    expect(readdirSync(late)).toEqual(['file', 'new']);
    expect(await outputOf(script, mountOf(true))).toMatch(/^in memory\n770\nro,nosuid,noexec,.*[^]*refused\n$/);
  });

  it('are read-only, with what is mounted below them only if asked', async () => {
    const [data, path] = [place(), `${absent()} with space`];
    mkdirSync(join(data, 'sub'));
    mount(join(data, 'sub'), '-t', 'tmpfs', '-o', 'nodev', 'tmpfs');
    const write = `for directory in '${path}' '${path}/sub' '${path}/mine'; do { echo x > "$directory/new"; } 2>/dev/null && echo "$directory"; done; true`;
    mkdirSync(join(data, 'mine'));
    const mountsOf = (more: DeepPartial<Mount>) => [
      { hostPath: data, containerPath: path, readonly: true, ...more },
      { hostPath: place(), containerPath: `${path}/mine` },
    ];
    expect(await outputOf(write, mountsOf({}))).toBe(`${path}/sub\n${path}/mine\n`);
    expect(await outputOf(write, mountsOf({ recursiveReadOnly: true }))).toBe(`${path}/mine\n`);
    expect(readdirSync(data).toSorted()).toEqual(['mine', 'sub']);
    const { runtimeHandlers } = await host.runtime.status({});
    expect(runtimeHandlers[0]?.features?.recursiveReadOnlyMounts).toBe(true);
    // The machine itself stays writable.
    writeFileSync(join(data, 'sub', 'new'), '');
  });

  it('stay writable below a root that is read-only, which has all other mounts read-only', async () => {
    const [data, path, odd] = [place(), absent(), join(place(), 'a b\\c\td')];
    mkdirSync(odd);
    mount(odd, '-t', 'tmpfs', 'tmpfs');
    const script = `for directory in ${path} / /etc '${odd}'; do { echo x > "$directory/rx-new"; } 2>/dev/null && echo "$directory"; done; true`;
    const linux = { securityContext: { readonlyRootfs: true } };
    expect(await outputOf(script, [{ hostPath: data, containerPath: path }], { linux })).toBe(`${path}\n`);
  });

  it('receive later mounts of the machine only if asked, and only from a shared mount', async () => {
    const [outer, path] = [place(), absent()];
    mount(outer, '-t', 'tmpfs', 'tmpfs');
    mount(outer, '--make-private');
    const wanted = { hostPath: outer, containerPath: path, propagation: 'PROPAGATION_HOST_TO_CONTAINER' as const };
    expect(await refusalOf([wanted])).toMatch(/is not on a shared or slave mount of this machine/);
    mount(outer, '--make-shared');
    for (const name of ['one', 'two']) mkdirSync(join(outer, name));
    const takes = await start('exec sleep 1000', [wanted]);
    const keeps = await start('exec sleep 1000', [{ hostPath: outer, containerPath: path }]);
    mount(join(outer, 'one'), '-t', 'tmpfs', 'tmpfs');
    writeFileSync(join(outer, 'one', 'late'), '');
    expect(await inside(takes, `ls ${path}/one`)).toBe('late\n');
    expect(await inside(keeps, `ls ${path}/one`)).toBe('');
    await inside(takes, `mount -t tmpfs tmpfs ${path}/two && : > ${path}/two/inside`);
    expect(readdirSync(join(outer, 'two'))).toEqual([]);
  });

  it('make a missing directory of the machine, as containerd does, but no device', async () => {
    const directory = place();
    const missing = join(directory, 'not', 'yet');
    expect(await outputOf('echo x > /mnt/new', [{ hostPath: missing, containerPath: '/mnt' }])).toBe('');
    expect(readFileSync(join(missing, 'new'), 'utf8')).toBe('x\n');
    expect(statSync(missing).mode & 0o777).toBe(0o755);
    const device = { hostPath: '/dev/rx-none', containerPath: '/dev/rx-none2', permissions: 'r' };
    await expect(create('true', [], { devices: [device] })).rejects.toMatchObject({ code: 3 });
  });

  it('may be many, of a container with a user of its own', async () => {
    const [path, data] = [absent(), place()];
    const mounts = Array.from({ length: 50 }, (_, index) => {
      mkdirSync(join(data, String(index)));
      writeFileSync(join(data, String(index), 'file'), `${index}\n`);
      return {
        hostPath: join(data, String(index)),
        containerPath: `${path}/${index % 7}/${index}`,
        readonly: index % 2 === 0,
      };
    });
    const script = `id -u; id -G; cat ${path}/*/*/file | sort -n | tr '\\n' ' '; grep -c ' ${path}/' /proc/self/mountinfo`;
    const linux = {
      securityContext: { runAsUser: { value: 1234n }, runAsGroup: { value: 56n }, supplementalGroups: [78n] },
    };
    expect(await outputOf(script, mounts, { linux })).toBe(
      `1234\n56 78\n${Array.from({ length: 50 }, (_, index) => `${index} `).join('')}50\n`,
    );
  });
});
