import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sourceBundle } from '../../support/source-bundle.js';

const isRoot = process.geteuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), 'rx-bridge-'));
let script: string;

/** Runs the commands in a network namespace of their own, and then prints the addresses that the agent finds there. */
const addressesAfter = (commands: readonly string[], nodeIp: string): unknown =>
  JSON.parse(
    execFileSync(
      'unshare',
      ['--net', 'sh', '-e', '-c', [...commands, 'exec "$0" "$@"'].join('\n'), process.execPath, script, nodeIp],
      { encoding: 'utf8', timeout: 20_000 },
    ),
  );

describe.runIf(isRoot || process.env.CI === 'true')('a bridge without a carrier', () => {
  beforeAll(async () => {
    script = await sourceBundle(folder, 'test/edges/host/print-addresses.ts');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const bridge = ['ip link set lo up', 'ip link add br0 type bridge', 'ip address add 10.9.8.7/24 dev br0'];
  // A bridge that never had a member has a carrier on some kernels; the far end of this member is down.
  const member = ['ip link add d0 type veth peer name d1', 'ip link set d0 master br0', 'ip link set d0 up'];
  // The kernel notices only after a while that there is no carrier.
  const isSilent = 'until ip link show br0 | grep -q NO-CARRIER; do sleep 0.02; done';
  const up = [...bridge, ...member, 'ip link set br0 up', isSilent];
  const hostname = { type: 'Hostname', address: 'node-1' };

  it('a Node gets the address of the bridge from --node-ip, although the bridge has no carrier', () => {
    expect(addressesAfter(up, '10.9.8.7')).toEqual({
      nodeIps: ['10.9.8.7'],
      addresses: [{ type: 'InternalIP', address: '10.9.8.7' }, hostname],
      problems: [],
    });
  });

  it('a Node gets the address of the bridge through which the default route leads', () => {
    const commands = [...up, 'ip route add default via 10.9.8.1 dev br0'];
    expect(addressesAfter(commands, '0.0.0.0')).toMatchObject({
      addresses: [{ type: 'InternalIP', address: '10.9.8.7' }, hostname],
      problems: [],
    });
  });

  it('an address on another interface with a carrier is preferred', () => {
    const wire = ['ip link add w0 type veth peer name w1', 'ip address add 192.0.2.9/24 dev w0'];
    const commands = [...up, ...wire, 'ip link set w0 up', 'ip link set w1 up'];
    expect(addressesAfter(commands, '10.9.8.7')).toMatchObject({
      nodeIps: ['192.0.2.9'],
      addresses: [{ type: 'InternalIP', address: '10.9.8.7' }, hostname],
    });
  });

  it('an address that no interface has is a problem of the Node', () => {
    expect(addressesAfter(up, '10.9.8.6')).toMatchObject({
      problems: ['failed to validate nodeIP: node IP: "10.9.8.6" not found in the host\'s network interfaces'],
    });
  });
});
