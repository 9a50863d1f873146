import { execFileSync } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { machineFacts } from '../../../src/host/facts/machine-facts.js';
import { tmpdir } from 'node:os';

const said = (command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { encoding: 'utf8' }).trim();
const fileText = (path: string): string => readFileSync(path, 'utf8').trim();

describe('the facts of this machine', () => {
  it('are what its own tools say', async () => {
    const facts = await firstValueFrom(machineFacts(tmpdir())());
    expect(facts).toMatchObject({
      cpus: Number(said('getconf', '_NPROCESSORS_ONLN')),
      kernelVersion: said('uname', '-r'),
      bootId: fileText('/proc/sys/kernel/random/boot_id'),
      osImage: said('sh', '-c', '. /etc/os-release && echo "$PRETTY_NAME"'),
    });
    const { bsize, blocks } = statfsSync(tmpdir(), { bigint: true });
    expect(facts.storageBytes).toBe(blocks * bsize);
    const [, total] = /MemTotal: +(\d+) kB/.exec(fileText('/proc/meminfo')) ?? [];
    expect(facts.memoryBytes).toBe(BigInt(total ?? 0) * 1024n);
    // `uname` and Go differ in their names of processors.
    expect(said('uname', '-m')).toBe({ amd64: 'x86_64', arm64: 'aarch64' }[facts.architecture]);
    expect(facts.bootedAt).toBe(Number(said('awk', '/^btime/ { print $2 }', '/proc/stat')) * 1_000);
  });

  it('name its interfaces, the loopback as such', async () => {
    const { network } = await firstValueFrom(machineFacts(tmpdir())());
    expect(network.interfaces.find(({ isLoopback }) => isLoopback)?.addresses).toContain('127.0.0.1');
    const outward = network.interfaces.filter(({ isLoopback }) => !isLoopback);
    expect(outward.flatMap(({ addresses }) => addresses)).not.toContain('127.0.0.1');
    for (const route of network.defaultRoutes ?? []) {
      expect(fileText(route.family === 4 ? '/proc/net/route' : '/proc/net/ipv6_route')).toContain(route.interface);
    }
  });

  it('have no storage where the directory is not there', async () => {
    const facts = await firstValueFrom(machineFacts('/nowhere/at/all')());
    expect(facts.storageBytes).toBeUndefined();
    expect(facts.cpus).toBeGreaterThan(0);
  });
});
