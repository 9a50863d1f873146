import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Subject } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { followPods } from '../../../examples/library/follow-pods.js';
import type { PodChange } from '../../../src/model/pod-status/pod-change.js';
import { eventually } from '../../embedded/eventually.js';
import { aPod } from '../../support/a-pod.js';

it('a page follows the pods by server-sent events, until it leaves', async () => {
  const pods$ = new Subject<PodChange>();
  const server = createServer(followPods(pods$)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  await eventually('it listens', () => server.listening);
  const leave = new AbortController();
  const { port } = server.address() as AddressInfo;
  const asked = fetch(`http://127.0.0.1:${port}/`, { signal: leave.signal });
  await eventually('the page is subscribed', () => pods$.observed);
  const pod = aPod({ name: 'web' });
  pods$.next({ kind: 'added', pod });
  pods$.next({ kind: 'changed', before: pod, pod: { ...pod, status: { phase: 'Running' } } });

  const { headers, body } = await asked;
  expect(headers.get('content-type')).toBe('text/event-stream');
  const expected = 'event: added\ndata: {"name":"web"}\n\nevent: changed\ndata: {"name":"web","phase":"Running"}\n\n';
  let text = '';
  for await (const part of body!) {
    text += Buffer.from(part).toString();
    if (text.length >= expected.length) break;
  }
  expect(text).toBe(expected);
  leave.abort();
  await eventually('nothing follows the pods any more', () => !pods$.observed);
});
