// ready.mjs SOCKET: ends with another exit code than 0 while the runtime at the socket does not answer to an agent yet, and says why.
// containerd serves before its part for agents has started; until then it refuses their calls.
import { connect } from 'node:http2';
import { createConnection } from 'node:net';

const socket = process.argv[2];
const fail = (why) => {
  console.error(`not ready: ${why}`);
  process.exit(1);
};
setTimeout(() => fail('no answer within 10 s'), 10_000).unref();
const session = connect('http://localhost', { createConnection: () => createConnection(socket) });
session.on('error', (error) => fail(error.message));
const call = session.request({
  ':method': 'POST',
  ':path': '/runtime.v1.RuntimeService/Status',
  'content-type': 'application/grpc',
  te: 'trailers',
});
let status;
let message = '';
const read = (headers) => {
  status ??= headers['grpc-status'];
  message ||= String(headers['grpc-message'] ?? '');
};
// A refusal has no trailers: everything is in its headers.
call.on('response', read).on('trailers', read);
call.on('error', (error) => fail(error.message));
call.on('close', () => {
  if (status !== '0') fail(`status ${status} ${message}`);
  session.close();
});
call.resume();
// An empty message.
call.end(Buffer.alloc(5));
