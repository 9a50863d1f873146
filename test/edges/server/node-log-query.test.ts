import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { journalctl } from '../../../src/host/logs/journalctl.js';
import { monotonicScheduler } from '../../../src/host/monotonic-scheduler.js';
import { isProcess } from '../../../src/processes/send-signal.js';
import { nodeLogs } from '../../../src/server/logs/node-logs.js';
import { readBelow } from '../../../src/server/logs/read-below.js';
import { nodeServiceLogs } from '../../../src/streams/server/node-service-logs.js';
import { eventually } from '../../embedded/eventually.js';
import { KubeletStage } from './kubelet-stage.js';

const stages: KubeletStage[] = [];
afterAll(() => stages.forEach((stage) => stage.dispose()));

/** A kubelet API over a folder of logs and the programs of another folder. */
const serve = async (furnish: (logs: string, programs: string) => void) => {
  const stage = new KubeletStage();
  stages.push(stage);
  stage.furnish();
  const [logs, programs] = [stage.subfolder('logs'), stage.subfolder('programs')];
  furnish(logs, programs);
  const readLogs = nodeServiceLogs({
    journal: journalctl({ path: programs }),
    files: readBelow(logs),
    scheduler: monotonicScheduler,
  });
  await stage.start({ debugPaths: nodeLogs(logs, readLogs) });
  const get = (query: string, headers: Readonly<Record<string, string>> = {}) =>
    stage.ask({ path: `/logs/${query}`, headers, token: 'admin' });
  return { stage, logs, programs, get };
};

/** A journal with two units. It prints its arguments, one a line, and a problem. */
const FAKE = `#!/bin/sh
if [ "$1" = "--field=_SYSTEMD_UNIT" ]; then echo kubelet.service; echo big.service; echo init.scope; exit 0; fi
for argument in "$@"; do
  if [ "$argument" = "--unit=big" ]; then trap '' PIPE; echo $$ > "$(dirname "$0")/pid"; while [ -e "$0" ]; do echo 0123456789012345678901234567890123456789; done; fi
done
for argument in "$@"; do echo "<$argument>"; done
echo "HOME=$HOME" 
echo "a problem" >&2
exit 1
`;

describe('a query of node logs over the kubelet API', () => {
  let on: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    on = await serve((logs, programs) => {
      writeFileSync(join(programs, 'journalctl'), FAKE);
      chmodSync(join(programs, 'journalctl'), 0o755);
      writeFileSync(join(programs, 'dirname'), '#!/bin/sh\necho "${1%/*}"\n');
      chmodSync(join(programs, 'dirname'), 0o755);
      writeFileSync(join(logs, 'plain'), 'plain\n');
      writeFileSync(join(logs, 'dotted.log'), 'dotted\n');
      mkdirSync(join(logs, 'nested'));
      writeFileSync(join(logs, 'nested', 'nested.log'), 'nested\n');
      writeFileSync(join(logs, 'large'), Buffer.alloc(3 * 65_536 + 1, 'x'));
      symlinkSync('/etc/passwd', join(logs, 'way-out'));
    });
  });

  it('of a service of the journal is the output of journalctl, with its problems', async () => {
    const marked = join(on.stage.folder, 'was-run');
    const pattern = `$(touch ${marked}); "x"`;
    const { status, headers, body } = await on.get(
      `?query=kubelet&query=init.scope&boot=0&tailLines=5&sinceTime=2026-01-31T12:00:00Z&pattern=${encodeURIComponent(pattern)}`,
    );
    expect([status, headers['content-type']]).toEqual([200, 'text/plain;charset=UTF-8']);
    expect(body.split('\n').sort()).toEqual(
      [
        ...['<--utc>', '<--no-pager>', '<--output=short-precise>', '<--since=2026-01-31 12:00:00 UTC>', '<--lines=5>'],
        ...['<--unit=kubelet>', '<--unit=init.scope>', `<--grep=${pattern}>`, '<--case-sensitive=false>', '<--boot=0>'],
        ...['HOME=', 'a problem', ''],
      ].sort(),
    );
    expect(existsSync(marked)).toBe(false);
  });

  it.each([
    ['?query=plain', 'plain\n'],
    ['?query=dotted', 'dotted\n'],
    ['?query=nested', 'nested\n'],
    ['?query=nested&query=plain', 'nested\nplain\n'],
    ['?query=large', 'x'.repeat(3 * 65_536 + 1)],
    ['?query=missing', '\nlog not found for missing\n'],
    ['?query=way-out', '\nlog not found for way-out\n'],
    ['?query=..', '\nlog not found for ..\n'],
    [
      '?query=plain&tailLines=1',
      '\noptions present and query resolved to log files for [plain]\ntry without specifying options\n',
    ],
    ['?query=/plain', 'plain\n'],
    ['?query=%5Cnested%5Cnested.log', 'nested\n'],
    ['plain', 'plain\n'],
    ['plain?other=1', 'plain\n'],
  ])('%s is a file of the service', async (query, body) => {
    expect(await on.get(query)).toMatchObject({ status: 200, body });
  });

  it.each([
    ['?query=', 400],
    ['?query=a&boot=x', 400],
    ['?query=a%3Bid', 406],
    ['?query=/missing', 406],
    ['?query=/way-out', 406],
    ['?query=/../../../etc/passwd', 406],
    ['?query=/a%00', 406],
    ['?tailLines=5', 406],
    ['plain?query=kubelet', 406],
  ])('%s is refused with %i', async (query, status) => {
    expect((await on.get(query)).status).toBe(status);
  });

  it('is compressed for a client that accepts gzip alone', async () => {
    const { cert, key } = on.stage.authority.pair('/CN=admin');
    const warnings: string[] = [];
    const note = ({ message }: Error) => warnings.push(message);
    process.on('warning', note);
    const compressed = await new Promise<Buffer>((resolve, reject) => {
      request(
        {
          ...{
            host: on.stage.url.hostname,
            port: on.stage.url.port,
            ca: on.stage.authority.ca,
            servername: '',
            cert,
            key,
          },
          ...{ agent: false, path: '/logs/?query=large', headers: { 'accept-encoding': 'gzip' } },
        },
        (response) => {
          expect(response.headers['content-encoding']).toBe('gzip');
          buffer(response).then(resolve, reject);
        },
      )
        .on('error', reject)
        .end();
    });
    process.off('warning', note);
    expect(warnings).toEqual([]);
    expect(compressed.length).toBeLessThan(10_000);
    expect(gunzipSync(compressed).toString()).toBe('x'.repeat(3 * 65_536 + 1));
    expect(
      (await on.get('?query=plain', { 'accept-encoding': 'gzip, deflate' })).headers['content-encoding'],
    ).toBeUndefined();
  });

  it.each([undefined, 'gzip'])('ends its process when the client leaves without reading (%s)', async (encoding) => {
    const { cert, key } = on.stage.authority.pair('/CN=admin');
    const leaving = request({
      ...{ host: on.stage.url.hostname, port: on.stage.url.port, ca: on.stage.authority.ca, servername: '', cert, key },
      ...{
        agent: false,
        path: '/logs/?query=big',
        headers: encoding === undefined ? {} : { 'accept-encoding': encoding },
      },
    });
    await new Promise<void>((resolve) => {
      leaving
        .on('error', () => undefined)
        .on('response', (response) => {
          response.on('error', () => undefined).pause();
          resolve();
        });
      leaving.end();
    });
    const pidFile = join(on.programs, 'pid');
    await eventually('the process runs', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'));
    const pid = Number(readFileSync(pidFile, 'utf8'));
    expect(isProcess(pid)).toBe(true);
    leaving.destroy();
    await eventually('the process has ended', () => !isProcess(pid));
    rmSync(pidFile);
  });
});

it('a query of node logs names the program that is missing on the machine', async () => {
  const { get } = await serve((logs) => writeFileSync(join(logs, 'plain'), 'plain\n'));
  expect((await get('?query=plain')).body).toBe('plain\n');
  expect((await get('?query=kubelet')).body).toBe(
    '\nlog not found for kubelet\nthe journal is not available: spawn journalctl ENOENT\n',
  );
});
