import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readlinkSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeLogs } from '../../../src/server/logs/node-logs.js';
import { eventually } from '../../embedded/eventually.js';
import { KubeletStage } from './kubelet-stage.js';

const MODIFIED = 'Sat, 31 Jan 2026 12:00:00 GMT';

describe('the files of logs over the kubelet API', () => {
  const stage = new KubeletStage();
  const outside = stage.subfolder('outside');
  const logs = stage.subfolder('logs');

  beforeAll(async () => {
    stage.furnish();
    writeFileSync(join(outside, 'secret'), 'secret');
    mkdirSync(join(logs, 'pods', 'a b'), { recursive: true });
    writeFileSync(join(logs, 'syslog'), 'hello\n');
    utimesSync(join(logs, 'syslog'), new Date(MODIFIED), new Date(MODIFIED));
    writeFileSync(join(logs, 'pods', 'a b', '0.log'), '<script>\n');
    writeFileSync(join(logs, 'empty'), '');
    writeFileSync(join(logs, 'old.gz'), 'x');
    writeFileSync(join(logs, 'wtmp'), Buffer.from([0, 1, 2]));
    writeFileSync(join(logs, 'big'), Buffer.alloc(32 * 1024 * 1024, 'x'));
    symlinkSync(join(logs, 'syslog'), join(logs, 'pods', 'link'));
    symlinkSync(join(outside, 'secret'), join(logs, 'way-out'));
    symlinkSync(outside, join(logs, 'folder-out'));
    symlinkSync('loop', join(logs, 'loop'));
    execFileSync('mkfifo', [join(logs, 'pipe')]);
    await stage.start({ debugPaths: nodeLogs(logs) });
  });
  afterAll(() => stage.dispose());

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    stage.ask({ path, headers, token: 'admin' });

  it.each([
    ['/logs/syslog', 'text/plain; charset=utf-8', 'hello\n'],
    ['/logs/syslog?query=other', 'text/plain; charset=utf-8', 'hello\n'],
    ['/logs/pods/link', 'text/plain; charset=utf-8', 'hello\n'],
    ['/logs/pods/a%20b/0.log', 'text/plain; charset=utf-8', '<script>\n'],
    ['/logs/pods/../syslog', 'text/plain; charset=utf-8', 'hello\n'],
    ['/logs/../../../syslog', 'text/plain; charset=utf-8', 'hello\n'],
    ['/logs/%2e%2e%2f%2e%2e%2fsyslog', 'text/plain; charset=utf-8', 'hello\n'],
    ['/logs/empty', 'text/plain; charset=utf-8', ''],
    ['/logs/old.gz', 'application/gzip', 'x'],
    ['/logs/wtmp', 'application/octet-stream', '\0\u0001\u0002'],
  ])('%s is a file: %s', async (path, type, body) => {
    expect(await get(path)).toMatchObject({
      status: 200,
      body,
      headers: { 'content-type': type, 'x-content-type-options': 'nosniff', 'content-length': String(body.length) },
    });
  });

  it('are listed by folder, with links that work', async () => {
    for (const path of ['/logs', '/logs/']) {
      const { status, headers, body } = await get(path);
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect([...body.matchAll(/<a href="([^"]*)">/g)].map(([, href]) => href)).toEqual([
        'big',
        'empty',
        'folder-out',
        'loop',
        'old.gz',
        'pipe',
        'pods/',
        'syslog',
        'way-out',
        'wtmp',
      ]);
    }
    expect((await get('/logs/pods/')).body).toContain('<a href="a%20b/">a b/</a>');
    expect(await get('/logs/pods/a%20b')).toMatchObject({ status: 301, headers: { location: 'a%20b/' } });
    expect(await get('/logs/syslog/')).toMatchObject({ status: 301, headers: { location: '../syslog' } });
  });

  it.each([
    '/logs/missing',
    '/logs/syslog/x',
    '/logs/way-out',
    '/logs/folder-out/',
    '/logs/folder-out/secret',
    '/logs/loop',
    '/logs/pipe',
    '/logs/%00',
    `/logs/${'x'.repeat(300)}`,
  ])('%s does not exist', async (path) => {
    expect(await get(path)).toMatchObject({ status: 404, body: '404 page not found\n' });
  });

  it('are sent in parts, and not again while they have not changed', async () => {
    expect(await get('/logs/syslog', { range: 'bytes=1-2' })).toMatchObject({
      status: 206,
      body: 'el',
      headers: { 'content-range': 'bytes 1-2/6', 'last-modified': MODIFIED, 'accept-ranges': 'bytes' },
    });
    expect(await get('/logs/syslog', { range: 'bytes=9-' })).toMatchObject({
      status: 416,
      headers: { 'content-range': 'bytes */6' },
    });
    expect((await get('/logs/syslog', { 'if-modified-since': MODIFIED })).status).toBe(304);
    const earlier = 'Sat, 31 Jan 2026 11:59:59 GMT';
    expect((await get('/logs/syslog', { 'if-modified-since': earlier })).status).toBe(200);
    expect((await get('/logs/syslog', { range: 'bytes=1-2', 'if-range': earlier })).status).toBe(200);
    expect((await get('/logs/syslog', { range: 'bytes=1-2', 'if-range': MODIFIED })).status).toBe(206);
  });

  it('are for GET by clients with access alone', async () => {
    for (const method of ['POST', 'DELETE', 'PUT', 'HEAD']) {
      expect((await stage.ask({ path: '/logs/syslog', method, token: 'admin' })).status).toBe(405);
    }
    expect(await stage.ask({ path: '/logs/syslog', token: 'scraper' })).toMatchObject({
      status: 403,
      body: 'Forbidden (user=scraper, verb=get, resource=nodes, subresource(s)=[log])\n',
    });
  });

  it('are closed for clients that do not read to the end, of which there are at most twenty', async () => {
    const isOpen = (): number =>
      readdirSync('/proc/self/fd').filter((name) => {
        try {
          return readlinkSync(`/proc/self/fd/${name}`) === join(logs, 'big');
        } catch {
          // The descriptor of this listing.
          return false;
        }
      }).length;
    const { cert, key } = stage.authority.pair('/CN=admin');
    const clients = await Promise.all(
      Array.from(
        { length: 20 },
        () =>
          new Promise<() => void>((resolve) => {
            const sent = request({
              ...{ host: stage.url.hostname, port: stage.url.port, ca: stage.authority.ca, servername: '', cert, key },
              ...{ agent: false, path: '/logs/big' },
            });
            sent.on('error', () => undefined);
            sent.on('response', (response) => {
              response.on('error', () => undefined).pause();
              resolve(() => sent.destroy());
            });
            sent.end();
          }),
      ),
    );
    expect(isOpen()).toBe(20);
    expect((await get('/logs/syslog')).status).toBe(429);
    expect((await get('/healthz')).status).toBe(200);
    for (const leave of clients) leave();
    await eventually('every file is closed', () => isOpen() === 0);
    expect((await get('/logs/syslog')).status).toBe(200);
  });
});
