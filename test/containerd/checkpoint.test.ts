import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/agent-files.js';
import { eventually } from '../embedded/eventually.js';
import { freeHostPort } from './host-port.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const port = await freeHostPort();
const it = onOneNode(() => [
  ...['--address', '127.0.0.1', '--port', String(port)],
  ...['--anonymous-auth', '--authorization-mode', 'AlwaysAllow'],
]);

const post = (path: string) =>
  new Promise<{ readonly status: number | undefined; readonly body: string }>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method: 'POST', rejectUnauthorized: false, agent: false }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode, body }), reject);
    })
      .on('error', reject)
      .end();
  });

overContainerd('a checkpoint with containerd', () => {
  it('is refused with the error of containerd', async ({ node }) => {
    node.apply({ name: 'kept', containers: [{}] });
    await node.reached('kept', 'CONTAINER_RUNNING');
    const container = `default/kept-${NODE_NAME}/main`;
    const reply = await eventually('the container is known', async () => {
      const answered = await post(`/checkpoint/${container}`);
      return !answered.body.includes('not found)') && answered;
    });
    expect(reply.status).toBe(500);
    // Up to 1.7 it has no checkpoints; later ones need the program criu.
    expect(reply.body).toMatch(
      /^checkpointing of default\/kept-\S+\/main failed \(rpc error: code = (Unimplemented desc = .*CheckpointContainer|Unknown desc = CRIU binary).*\)$/,
    );
  });
});
