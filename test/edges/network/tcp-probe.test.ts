import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tcpConnect } from '../../../src/network/tcp-connect.js';
import { eventually } from '../../embedded/eventually.js';
import { type LocalServers, localServers } from './local-servers.js';
import { probeOnce, SHORT } from './probing.js';

let servers: LocalServers;
beforeEach(() => {
  servers = localServers();
});
afterEach(() => servers.close());

describe('a TCP probe', () => {
  it('connects, says nothing and leaves', async () => {
    const heard: Buffer[] = [];
    const port = await servers.serve((socket) => void socket.on('data', (data) => heard.push(data)));
    expect(await probeOnce({ tcpSocket: { port } })).toEqual({ result: 'success', output: '' });
    await eventually('the server has taken the connection', () => servers.taken() === 1);
    await servers.deserted();
    expect(heard).toEqual([]);
  });

  it('is content with a server that hangs up at once', async () => {
    const port = await servers.serve((socket) => void socket.end());
    expect(await probeOnce({ tcpSocket: { port } })).toEqual({ result: 'success', output: '' });
  });

  it('asks the host that it names', async () => {
    const port = await servers.serve(() => undefined);
    expect(await probeOnce({ tcpSocket: { port, host: 'localhost' } })).toMatchObject({ result: 'success' });
  });

  it('finds a closed port', async () => {
    const port = await servers.closedPort();
    expect(await probeOnce({ tcpSocket: { port } })).toEqual({
      result: 'failure',
      output: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  it('finds a host that there is not', async () => {
    // One letter too long for a name: no name server is asked, which might be slow or resolve every name.
    const host = `${'x'.repeat(64)}.test`;
    expect(await probeOnce({ tcpSocket: { port: 80, host } })).toEqual({
      result: 'failure',
      output: `dial tcp: lookup ${host}: no such host`,
    });
  });

  it('gives up a server that takes no connection, and leaves no socket behind', async () => {
    const script =
      "require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port) })";
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const waiting: Socket[] = [];
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const port = Number(line.toString());
      // No process accepts connections, and the kernel keeps only a few for later.
      child.kill('SIGSTOP');
      for (let i = 0; i < 8; i++) waiting.push(connect(port, '127.0.0.1').on('error', () => undefined));
      await eventually('no more are kept', () => waiting.filter(({ connecting }) => !connecting).length >= 2);
      const sockets = process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
      expect(await probeOnce({ tcpSocket: { port } }, SHORT.seconds)).toEqual({
        result: 'failure',
        output: `dial tcp 127.0.0.1:${port}: i/o timeout`,
      });
      expect(await probeOnce({ grpc: { port } }, SHORT.seconds)).toEqual({
        result: 'failure',
        output: `timeout: health rpc did not complete within ${SHORT.text}`,
      });
      await eventually(
        'the sockets of the probes are closed',
        () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length === sockets,
      );
    } finally {
      for (const socket of waiting) socket.destroy();
      child.kill('SIGKILL');
    }
  });

  it('is given up when its subscriber unsubscribes', async () => {
    const port = await servers.serve(() => undefined);
    for (let i = 0; i < 20; i++) tcpConnect({ host: '127.0.0.1', port }).subscribe().unsubscribe();
    await servers.deserted();
  });
});
