import { existsSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { type Daemon, freePort, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';

/** Sends a request to the port, with the certificate of the agent as authority. */
const ask = (daemon: Daemon, port: number, path: string, method = 'GET') =>
  new Promise<{ readonly status: number | undefined; readonly body: string }>((resolve, reject) => {
    const ca = readFileSync(join(daemon.rootDir, 'pki', 'kubelet.crt'));
    request({ host: '127.0.0.1', port, path, method, ca, servername: NODE_NAME, agent: false }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode, body }), reject);
    })
      .on('error', reject)
      .end();
  });

describe.concurrent('the kubelet API of a node without an API server', () => {
  it('is closed by default, and also with reviews that no server can make', async ({ daemon }) => {
    const port = await freePort();
    await daemon.start('--port', String(port), '--anonymous-auth');
    await eventually('it says so', () =>
      daemon.log.includes('authorization.mode Webhook needs an API server; AlwaysAllow gives access'),
    );
    expect(existsSync(join(daemon.rootDir, 'pki'))).toBe(false);
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed');
    await eventually('the agent is healthy', async () => (await daemon.health()).status === 200);
    await daemon.kill('SIGTERM');
    const before = daemon.log.length;
    await daemon.start('--port', String(port));
    expect(daemon.log.slice(before)).not.toContain('kubelet API');
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed');
  });

  it('serves every client where the configuration says so', async ({ daemon }) => {
    const [port, readOnlyPort] = [await freePort(), await freePort()];
    daemon.apply({ name: 'web', containers: [{ script: `echo hello; ${SLEEP}` }] });
    await daemon.start(
      ...['--address', '127.0.0.1', '--port', String(port), '--read-only-port', String(readOnlyPort)],
      ...['--anonymous-auth', '--authorization-mode', 'AlwaysAllow'],
    );
    await daemon.reached('web', 'CONTAINER_RUNNING');
    await eventually('both ports are served', () => daemon.log.match(/kubelet API is served/g)?.length === 2);
    expect(statSync(join(daemon.rootDir, 'pki', 'kubelet.key')).mode & 0o777).toBe(0o600);
    expect(await ask(daemon, port, '/healthz')).toEqual({ status: 200, body: 'ok' });
    expect((await ask(daemon, port, '/pods')).body).toContain(`"name":"web-${NODE_NAME}"`);
    const { body } = await ask(daemon, port, '/configz');
    expect(JSON.parse(body)).toMatchObject({ kubeletconfig: { port, readOnlyPort, address: '127.0.0.1' } });
    await eventually('the running pod is listed', async () =>
      (await ask(daemon, port, '/runningpods/')).body.includes(`"name":"web-${NODE_NAME}"`),
    );
    const logs = `/containerLogs/default/web-${NODE_NAME}/main`;
    await eventually('the log of its container is read', async () => {
      const { status, body } = await ask(daemon, port, `${logs}?tailLines=1`);
      return status === 200 && body === 'hello\n';
    });
    expect(await ask(daemon, port, `${logs}?previous=true`)).toEqual({
      status: 400,
      body: `previous terminated container "main" in pod "web-${NODE_NAME}" not found`,
    });
    expect(await (await fetch(`http://127.0.0.1:${readOnlyPort}${logs}`)).text()).toBe(
      'Debug endpoints are disabled.\n',
    );
    const container = `default/web-${NODE_NAME}/main`;
    expect(await ask(daemon, port, `/run/${container}?cmd=echo+hi`, 'POST')).toEqual({ status: 200, body: 'hi\n' });
    const checkpoint = await ask(daemon, port, `/checkpoint/${container}`, 'POST');
    expect([checkpoint.status, checkpoint.body]).toEqual([
      500,
      expect.stringContaining(`checkpointing of ${container} failed (rpc error: code = Unimplemented desc = `),
    ]);
    const plain = await fetch(`http://127.0.0.1:${readOnlyPort}/metrics`);
    expect(await plain.text()).toContain(
      'kubelet_http_requests_total{method="GET",path="pods",server_type="readwrite"',
    );
    expect((await fetch(`http://127.0.0.1:${readOnlyPort}/configz`)).status).toBe(404);
  });
});
