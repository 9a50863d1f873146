import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, expect, it } from 'vitest';
import { createMetrics } from '../../../src/server/metrics/metrics.js';
import { registerProcess } from '../../../src/server/metrics/process-metrics.js';

const directory = mkdtempSync(join(tmpdir(), 'process-metrics-'));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** The values of a scrape by series, of those that depend on the directory. */
const scraped = async (registry: Registry): Promise<Readonly<Record<string, number>>> =>
  Object.fromEntries(
    [...(await registry.metrics()).matchAll(/^(process_\S+) (\S+)$/gm)]
      .filter(([, name = '']) => !/cpu|resident|start_time/.test(name))
      .map(([, name = '', value]) => [name, Number(value)]),
  );

const write = (files: Readonly<Record<string, string>>): void => {
  for (const directories of ['fd', 'net']) mkdirSync(join(directory, directories), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
};

const LIMITS = (files: string, memory: string): string =>
  'Limit                     Soft Limit           Hard Limit           Units     \n' +
  'Max processes             63421                63421                processes \n' +
  `Max open files            ${files.padEnd(20)} 524288               files     \n` +
  `Max address space         ${memory.padEnd(20)} unlimited            bytes     \n`;

it('has the memory, descriptors, limits and traffic of each scrape, and no series for what cannot be read', async () => {
  const registry = new Registry();
  registerProcess(registry, directory);
  // Types: what can fall is a gauge.
  expect((await registry.metrics()).match(/^# TYPE process_(?:open|max|virtual|network).*$/gm)).toEqual([
    '# TYPE process_virtual_memory_bytes gauge',
    '# TYPE process_virtual_memory_max_bytes gauge',
    '# TYPE process_open_fds gauge',
    '# TYPE process_max_fds gauge',
    '# TYPE process_network_receive_bytes_total counter',
    '# TYPE process_network_transmit_bytes_total counter',
  ]);
  expect(await scraped(registry)).toEqual({});

  write({
    stat: `7 (rx) kube (let) S ${Array.from({ length: 19 }, (_, index) => index).join(' ')} 123456789 4096 18446744073709551615\n`,
    limits: LIMITS('1024', '8000000000'),
    'net/netstat':
      'TcpExt: InOctets OutOctets\nTcpExt: 1 2\n' +
      'IpExt: InNoRoutes InOctets OutOctets InMcastOctets\nIpExt: 3 1000000 2000000 4\n',
    ...Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`fd/${index}`, ''])),
  });
  expect(await scraped(registry)).toEqual({
    process_virtual_memory_bytes: 123_456_789,
    process_virtual_memory_max_bytes: 8_000_000_000,
    process_open_fds: 40,
    process_max_fds: 1_024,
    process_network_receive_bytes_total: 1_000_000,
    process_network_transmit_bytes_total: 2_000_000,
  });

  rmSync(join(directory, 'fd/7'));
  write({ limits: LIMITS('unlimited', 'unlimited'), 'net/netstat': 'IpExt: InOctets\nIpExt: 1000500\n' });
  rmSync(join(directory, 'stat'));
  expect(await scraped(registry)).toEqual({
    process_virtual_memory_max_bytes: 2 ** 64,
    process_open_fds: 39,
    process_max_fds: 2 ** 64,
    process_network_receive_bytes_total: 1_000_500,
    process_network_transmit_bytes_total: 0,
  });
});

it('counts the descriptors of a process', async () => {
  const child = spawn('cat', [], { stdio: ['pipe', 'pipe', 'ignore'] });
  try {
    child.stdin.write('begun');
    // Before that its loader has descriptors of its own.
    await once(child.stdout, 'data');
    const registry = new Registry();
    registerProcess(registry, `/proc/${child.pid}`);
    const open = readdirSync(`/proc/${child.pid}/fd`).length;
    expect(open).toBeGreaterThan(2);
    expect((await scraped(registry)).process_open_fds).toBe(open);
  } finally {
    child.stdin.end();
    await once(child, 'close');
  }
});

it('is about the process of the agent', async () => {
  const { registry } = createMetrics({ nodeName: 'n1', version: '0.1.0' });
  const { process_max_fds: limit, process_virtual_memory_bytes: virtual } = await scraped(registry);
  const [, own] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  expect(String(limit)).toBe(own);
  expect(virtual).toBeGreaterThan(process.memoryUsage.rss());
});
