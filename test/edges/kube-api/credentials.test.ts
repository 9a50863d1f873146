import { chmodSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { ExecPlugin } from '../../../src/kube-api/api-identity.js';
import { eventually } from '../../embedded/eventually.js';
import { apiStage, json, type TestServer } from './api-stage.js';

const stage = apiStage();
afterAll(stage.end);

let server: TestServer;
beforeEach(async () => {
  server = await stage.serve();
});

const GET = { method: 'GET', path: '/p' } as const;
const PUT = { method: 'PUT', path: '/p', body: {} } as const;

const authorizations = (): unknown[] => server.seen.map(({ headers }) => headers.authorization);
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Accepts requests with this credential. */
const onlyWith = (authorization: string): void => {
  server.answer = ({ headers }, response) =>
    headers.authorization === authorization
      ? json(response, 200, { kind: 'Ok' })
      : json(response, 401, { kind: 'Status', code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
};

describe('a token', () => {
  it('is sent', async () => {
    await lastValueFrom(stage.as(server, { token: 'secret' }).request(GET));
    expect(authorizations()).toEqual(['Bearer secret']);
  });

  it('is never sent again when it is refused', async () => {
    onlyWith('Bearer other');
    const api = stage.as(server, { token: 'secret' });
    expect(await failureOf(lastValueFrom(api.request(GET)))).toMatchObject({ code: 401, reason: 'Unauthorized' });
    expect(server.seen).toHaveLength(1);
  });

  it('may be a user name and a password', async () => {
    await lastValueFrom(stage.as(server, { basic: { username: 'ä', password: 'b:c' } }).request(GET));
    expect(authorizations()).toEqual([`Basic ${Buffer.from('ä:b:c').toString('base64')}`]);
  });

  it('may impersonate another user', async () => {
    const impersonate = { user: 'u', uid: 'i', groups: ['g', 'h'], extra: { 'a/b': ['1', '2'] } };
    await lastValueFrom(stage.as(server, { token: 't', impersonate }).request(GET));
    expect(server.seen[0]!.headers).toMatchObject({
      'impersonate-user': 'u',
      'impersonate-uid': 'i',
      'impersonate-group': 'g, h',
      'impersonate-extra-a%2fb': '1, 2',
    });
  });
});

describe('a file with a token', () => {
  let now = 0;
  const fileApi = (name: string, token?: string) =>
    stage.as(
      server,
      { tokenFile: join(stage.folder, name), ...(token !== undefined && { token }) },
      { now: () => now },
    );

  it('is read again 50 s after it was read', async () => {
    stage.write('token-a', 'one\n');
    const api = fileApi('token-a');
    now = 1_000;
    await lastValueFrom(api.request(GET));
    stage.write('token-a', 'two\n');
    now = 50_999;
    await lastValueFrom(api.request(GET));
    now = 51_000;
    await lastValueFrom(api.request(GET));
    stage.write('token-a', 'three\n');
    // The clock was set back.
    now = -1e12;
    await lastValueFrom(api.request(GET));
    expect(authorizations()).toEqual(['Bearer one', 'Bearer one', 'Bearer two', 'Bearer three']);
  });

  it('is read at once when its token is refused, and what was refused is sent again', async () => {
    stage.write('token-b', 'one');
    const api = fileApi('token-b');
    await lastValueFrom(api.request(GET));
    stage.write('token-b', 'two');
    onlyWith('Bearer two');
    expect(await lastValueFrom(api.request(PUT))).toEqual({ kind: 'Ok' });
    expect(server.seen.map(({ line, headers }) => [line, headers.authorization])).toEqual([
      ['GET /p', 'Bearer one'],
      ['PUT /p', 'Bearer one'],
      ['PUT /p', 'Bearer two'],
    ]);
    expect(server.seen[2]!.body).toBe('{}');
  });

  it('is read at once for a watch as well', async () => {
    stage.write('token-c', 'one');
    const api = fileApi('token-c');
    await lastValueFrom(api.request(GET));
    stage.write('token-c', 'two');
    server.answer = ({ headers }, response) =>
      headers.authorization === 'Bearer two'
        ? void response.end('{"type":"ADDED","object":{}}\n')
        : json(response, 401, {});
    expect(await lastValueFrom(api.watch({ path: '/p' }))).toMatchObject({ type: 'ADDED' });
  });

  it('holds on to its last token while it cannot be read, and says so', async () => {
    const path = stage.write('token-d', 'one');
    const api = fileApi('token-d');
    await lastValueFrom(api.request(GET));
    unlinkSync(path);
    now += 60_000;
    await lastValueFrom(api.request(GET));
    stage.write('token-d', ' ');
    now += 60_000;
    await lastValueFrom(api.request(GET));
    expect(authorizations()).toEqual(['Bearer one', 'Bearer one', 'Bearer one']);
    expect(stage.logged.filter((line) => line.includes(path))).toEqual([
      expect.stringContaining('the token cannot be read again, going on with the last one'),
      expect.stringContaining('is empty, expected a token'),
    ]);
  });

  it('that was never there fails each request by its name, unless there is a token besides', async () => {
    const error = await failureOf(lastValueFrom(fileApi('token-e').request(GET)));
    expect(error).toMatchObject({ code: undefined, name: 'ApiError' });
    expect(String(error)).toContain(join(stage.folder, 'token-e'));
    await lastValueFrom(fileApi('token-e', 'spare').request(GET));
    expect(authorizations()).toEqual(['Bearer spare']);
  });
});

describe('a certificate', () => {
  it('is presented', async () => {
    const { cert, key } = stage.ca.client('system:node:n1');
    await lastValueFrom(stage.as(server, { certificate: { pem: cert }, key: { pem: key } }).request(GET));
    expect(server.seen[0]!.from).toBe('system:node:n1');
  });

  it('in a file, with its key, is read again once the link names another; its connections close when they are idle', async () => {
    const write = (name: string, commonName: string) => {
      const { cert, key } = stage.ca.client(commonName);
      return stage.write(name, cert + key);
    };
    const current = join(stage.folder, 'current.pem');
    symlinkSync(write('first.pem', 'first'), current);
    const api = stage.as(server, { certificate: { file: current }, key: { file: current } });
    await lastValueFrom(api.request(GET));
    // One that goes on while the certificate changes.
    const answers: (() => void)[] = [];
    server.answer = (_, response) => void answers.push(() => json(response, 200, { kind: 'Late' }));
    const late = lastValueFrom(api.request(PUT));
    await eventually('it is asked', () => answers.length === 1);

    symlinkSync(write('second.pem', 'second'), join(stage.folder, 'next.pem'));
    renameSync(join(stage.folder, 'next.pem'), current);
    server.answer = (_, response) => json(response, 200, { kind: 'Ok' });
    await lastValueFrom(api.request(GET));
    answers[0]!();
    expect(await late).toEqual({ kind: 'Late' });
    expect(server.seen.map(({ from, connection }) => [from, connection])).toEqual([
      ['first', 1],
      ['first', 1],
      ['second', 2],
    ]);
    await eventually('the old connection is closed', () => server.sockets.size === 1);
    expect(stage.logged).toContain('the certificate for the API server was renewed {}');
  });

  it('of which the key is not there yet waits for it', async () => {
    const [one, two] = [stage.ca.client('one'), stage.ca.client('two')];
    const certificate = { file: stage.write('client.crt', one.cert) };
    const key = { file: stage.write('client.key', one.key) };
    const api = stage.as(server, { certificate, key });
    await lastValueFrom(api.request(GET));
    writeFileSync(certificate.file, two.cert);
    await lastValueFrom(api.request(GET));
    await lastValueFrom(api.request(GET));
    writeFileSync(key.file, two.key);
    await lastValueFrom(api.request(GET));
    expect(server.seen.map(({ from }) => from)).toEqual(['one', 'one', 'one', 'two']);
    const told = stage.logged.filter((line) => line.startsWith('a renewed certificate cannot be used yet'));
    expect(told).toHaveLength(1);
  });

  it('that does not fit its key is an error before anything is sent', () => {
    const [one, two] = [stage.ca.client('one'), stage.ca.client('two')];
    expect(() => stage.as(server, { certificate: { pem: one.cert }, key: { pem: two.key } })).toThrow(
      'key values mismatch',
    );
  });

  it('of the authority may be renewed as well', async () => {
    const ca = { file: stage.write('ca.pem', stage.ca.client('nobody').cert) };
    const api = stage.client({ server: server.url, ca });
    expect(await failureOf(lastValueFrom(api.request(GET)))).toMatchObject({ code: undefined });
    writeFileSync(ca.file, stage.ca.ca);
    expect(await lastValueFrom(api.request(GET))).toEqual({ kind: 'Ok' });
  });
});

describe('a program that brings credentials', () => {
  const API_VERSION = 'client.authentication.k8s.io/v1';
  /** A program that counts its runs in a file, and prints what stands in another. */
  const program = (
    name: string,
    output: unknown,
    before = '',
  ): ExecPlugin & { readonly runs: () => number; readonly print: (output: unknown) => void } => {
    const print = (value: unknown): void =>
      void stage.write(`${name}.json`, typeof value === 'string' ? value : JSON.stringify(value));
    print(output);
    const counter = stage.write(`${name}.runs`, '');
    const script = `#!/bin/sh\necho "$1 $COLOUR $KUBERNETES_EXEC_INFO" >> ${counter}\n${before}\ncat ${stage.folder}/${name}.json\n`;
    const command = stage.write(name, script, 0o700);
    chmodSync(command, 0o700);
    return {
      ...{
        apiVersion: API_VERSION,
        command,
        args: ['get'],
        env: { COLOUR: 'blue' },
        installHint: '',
        provideClusterInfo: false,
      },
      runs: () => readFileSync(counter, 'utf8').split('\n').length - 1,
      print,
    };
  };
  const brings = (status: object, apiVersion = API_VERSION) => ({ kind: 'ExecCredential', apiVersion, status });

  it('is run once for all that wait, and receives its input', async () => {
    const exec = program('once', brings({ token: 'brought' }));
    const api = stage.as(server, { exec });
    await Promise.all([1, 2, 3].map(() => lastValueFrom(api.request(GET))));
    await lastValueFrom(api.request(GET));
    expect(authorizations()).toEqual(Array.from({ length: 4 }, () => 'Bearer brought'));
    const [run = '', ...others] = readFileSync(join(stage.folder, 'once.runs'), 'utf8').trim().split('\n');
    expect(others).toEqual([]);
    const [argument, colour, ...info] = run.split(' ');
    expect([argument, colour]).toEqual(['get', 'blue']);
    expect(JSON.parse(info.join(' '))).toEqual({
      ...{ kind: 'ExecCredential', apiVersion: API_VERSION, spec: { interactive: false } },
    });
  });

  it('receives the cluster if it requests that', async () => {
    const exec = { ...program('told', brings({ token: 't' })), provideClusterInfo: true, clusterConfig: { a: 1 } };
    const api = stage.client({ server: server.url, user: { exec }, tlsServerName: 'api.test' });
    await lastValueFrom(api.request(GET));
    const info = readFileSync(join(stage.folder, 'told.runs'), 'utf8').split(' ').slice(2).join(' ');
    expect(JSON.parse(info)).toMatchObject({
      spec: {
        cluster: {
          server: server.url,
          'tls-server-name': 'api.test',
          'certificate-authority-data': Buffer.from(stage.ca.ca).toString('base64'),
          config: { a: 1 },
        },
      },
    });
  });

  it('is run again when what it brought has expired', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const exec = program('expires', brings({ token: 'one', expirationTimestamp: '2026-01-01T00:10:00Z' }));
    const api = stage.as(server, { exec }, { now: () => now });
    await lastValueFrom(api.request(GET));
    exec.print(brings({ token: 'two' }));
    now += 600_000;
    await lastValueFrom(api.request(GET));
    now += 1;
    await lastValueFrom(api.request(GET));
    now += 1e12;
    await lastValueFrom(api.request(GET));
    expect(authorizations()).toEqual(['Bearer one', 'Bearer one', 'Bearer two', 'Bearer two']);
  });

  it('is run again when what it brought is refused, once for all that were', async () => {
    const exec = program('refused', brings({ token: 'one' }));
    const api = stage.as(server, { exec });
    await lastValueFrom(api.request(GET));
    exec.print(brings({ token: 'two' }));
    onlyWith('Bearer two');
    await Promise.all([1, 2, 3].map(() => lastValueFrom(api.request(PUT))));
    expect(exec.runs()).toBe(2);
  });

  it('is not run again for what was refused with credentials that are not the last ones any more', async () => {
    const exec = program('overtaken', brings({ token: 'one' }));
    const api = stage.as(server, { exec });
    const refuse: (() => void)[] = [];
    server.answer = ({ headers }, response) =>
      headers.authorization === 'Bearer two'
        ? json(response, 200, {})
        : void refuse.push(() => json(response, 401, {}));
    const both = [1, 2].map(() => lastValueFrom(api.request(PUT)));
    await eventually('both are asked', () => refuse.length === 2);
    exec.print(brings({ token: 'two' }));
    refuse[0]!();
    await both[0];
    refuse[1]!();
    await both[1];
    expect(exec.runs()).toBe(2);
  });

  it('fails no request that is answered, where it fails after a refusal', async () => {
    const exec = program('late', brings({ token: 'one' }));
    const api = stage.as(server, { exec });
    await lastValueFrom(api.request(GET));
    exec.print('no JSON');
    onlyWith('Bearer two');
    expect(await failureOf(lastValueFrom(api.request(GET)))).toMatchObject({ code: 401 });
    expect(stage.logged.at(-1)).toContain('the API server refuses the credentials, and there are no others');
  });

  it('may bring a certificate, and another one later', async () => {
    const bring = (commonName: string) => {
      const { cert, key } = stage.ca.client(commonName);
      return brings({ clientCertificateData: cert, clientKeyData: key });
    };
    const exec = program('certificates', bring('one'));
    const api = stage.as(server, { exec });
    await lastValueFrom(api.request(GET));
    exec.print(bring('two'));
    server.answer = ({ from }, response) => json(response, from === 'two' ? 200 : 401, {});
    await lastValueFrom(api.request(GET));
    expect(server.seen.map(({ from }) => from)).toEqual(['one', 'one', 'two']);
  });

  it('is not run where there is a token', async () => {
    const exec = program('unused', brings({ token: 'brought' }));
    await lastValueFrom(stage.as(server, { exec, token: 'said' }).request(GET));
    expect(authorizations()).toEqual(['Bearer said']);
    expect(exec.runs()).toBe(0);
  });

  it.each([
    ['nothing', '', 'expected an ExecCredential in JSON on its standard output'],
    [
      'another version',
      brings({ token: 't' }, `${API_VERSION}beta1`),
      `apiVersion: expected "${API_VERSION}", found "${API_VERSION}beta1"`,
    ],
    ['no status', { kind: 'ExecCredential', apiVersion: API_VERSION }, 'status: Invalid input'],
    ['no credential', brings({}), 'status: expected a token, or a certificate and its key'],
    ['half of one', brings({ clientKeyData: 'k' }), 'status: expected both a certificate and its key, or neither'],
    ['no time', brings({ token: 't', expirationTimestamp: 'soon' }), 'status.expirationTimestamp: Invalid'],
  ])('that brings %s fails the request, by its name', async (_what, output, expected) => {
    const exec = program('useless', output);
    const error = await failureOf(lastValueFrom(stage.as(server, { exec }).request(GET)));
    expect(error).toMatchObject({ name: 'ApiError', code: undefined });
    expect(String(error)).toContain(`GET /p: exec: executable ${exec.command}: ${expected}`);
    expect(server.seen).toEqual([]);
  });

  it('that fails says why', async () => {
    const exec = program('fails', '', 'echo first >&2; echo the reason >&2; exit 3');
    const error = await failureOf(lastValueFrom(stage.as(server, { exec }).request(GET)));
    expect(String(error)).toContain(`exec: executable ${exec.command} failed with exit code 3: the reason`);
  });

  it('that is not there is named, with what helps', async () => {
    const exec = { ...program('x', ''), command: 'no-such-program', installHint: 'install it' };
    const error = await failureOf(lastValueFrom(stage.as(server, { exec }).request(GET)));
    expect(String(error)).toContain('exec: executable no-such-program not found: install it');
  });

  it('that does not come to an end in time is killed', async () => {
    const exec = program('hangs', '', 'exec sleep 1000');
    const error = await failureOf(lastValueFrom(stage.as(server, { exec }, { execMs: 200 }).request(GET)));
    expect(String(error)).toContain(`exec: executable ${exec.command} was killed, it took longer than 0.2 s`);
  });
});
