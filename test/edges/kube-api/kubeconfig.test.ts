import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseKubeconfig, readKubeconfig } from '../../../src/kube-api/kubeconfig.js';
import { signer } from './signer.js';

const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true }));

const signs = signer(folder);
const CA = signs.ca;
const { cert: CERT, key: KEY } = signs.client('node');
const OTHER_KEY = signs.client('other').key;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

beforeAll(() => {
  mkdirSync(join(folder, 'pki'));
  for (const [name, content] of [
    ['pki/ca.crt', CA],
    ['pki/client.pem', CERT + KEY],
    ['token', 'secret\n'],
    ['pki/other.key', OTHER_KEY],
    ['pki/cut.crt', CERT.replace(/\n.*\n-----END/, '\n-----END')],
    ['text', 'no PEM'],
  ] as const) {
    writeFileSync(join(folder, name), content);
  }
});

const config = (cluster: string, user: string, context = '{cluster: c, user: u}'): string => `apiVersion: v1
kind: Config
current-context: x
contexts:
- {name: other, context: {cluster: c, user: absent}}
- {name: x, context: ${context}}
clusters:
- {name: c, cluster: ${cluster}}
users:
- {name: u, user: ${user}}
`;
const file = join(folder, 'kubeconfig');
const read = (cluster: string, user: string) => parseKubeconfig(config(cluster, user), file);
const SERVER = '{server: "https://10.0.0.1:6443"}';
const server = 'https://10.0.0.1:6443';

describe('a kubeconfig', () => {
  it.each([
    ['server: "https://10.0.0.1:6443/"', { server }],
    ['server: "https://h/a/b/"', { server: 'https://h/a/b' }],
    ['server: "http://localhost:8080"', { server: 'http://localhost:8080' }],
    ['server: "h:8080"', { server: 'http://h:8080' }],
    ['server: "h:443", insecure-skip-tls-verify: true', { server: 'https://h', insecureSkipTlsVerify: true }],
    [
      'server: "https://h", certificate-authority: pki/ca.crt',
      { server: 'https://h', ca: { file: join(folder, 'pki/ca.crt') } },
    ],
    [`server: "https://h", certificate-authority-data: ${base64(CA)}`, { server: 'https://h', ca: { pem: CA } }],
    [
      `server: "https://h", certificate-authority: nowhere, certificate-authority-data: ${base64(CA)}`,
      { server: 'https://h', ca: { pem: CA } },
    ],
    [
      'server: "https://h", tls-server-name: name, proxy-url: "socks5://p:1080"',
      { server: 'https://h', tlsServerName: 'name', proxyUrl: 'socks5://p:1080' },
    ],
  ])('says where the server is: %s', (cluster, expected) => {
    expect(read(`{${cluster}}`, '{}')).toEqual({ ...expected, user: {} });
  });

  it.each([
    ['token: t', { token: 't' }],
    // The numbers of other readers of YAML.
    ['token: e1', { token: 'e1' }],
    ['username: .e3, password: 1e1000', { basic: { username: '.e3', password: '1e1000' } }],
    ['tokenFile: token', { tokenFile: join(folder, 'token') }],
    ['token: t, tokenFile: nowhere', { token: 't', tokenFile: join(folder, 'nowhere') }],
    ['username: a, password: b', { basic: { username: 'a', password: 'b' } }],
    ['username: a', { basic: { username: 'a', password: '' } }],
    [
      'client-certificate: pki/client.pem, client-key: pki/client.pem',
      { certificate: { file: join(folder, 'pki/client.pem') }, key: { file: join(folder, 'pki/client.pem') } },
    ],
    [
      `client-certificate-data: ${base64(CERT)}, client-key-data: ${base64(KEY)}`,
      { certificate: { pem: CERT }, key: { pem: KEY } },
    ],
    [
      'token: t, as: other, as-groups: [g], as-user-extra: {k: [v]}',
      { token: 't', impersonate: { user: 'other', uid: '', groups: ['g'], extra: { k: ['v'] } } },
    ],
    [
      'exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/get, args: [a], env: [{name: NAME, value: v}], interactiveMode: Never, provideClusterInfo: true, installHint: h}',
      {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: join(folder, 'bin/get'),
          args: ['a'],
          env: { NAME: 'v' },
          installHint: 'h',
          provideClusterInfo: true,
        },
      },
    ],
    [
      'exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: get}',
      {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1beta1',
          command: 'get',
          args: [],
          env: {},
          installHint: '',
          provideClusterInfo: false,
        },
      },
    ],
  ])('gives the credentials: %s', (user, expected) => {
    expect(read(SERVER, `{${user}}`)).toEqual({ server, user: expected });
  });

  it('gives a program what its cluster says to programs', () => {
    const cluster =
      '{server: "https://h", extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: a}}]}';
    const user = '{exec: {apiVersion: client.authentication.k8s.io/v1, command: get, interactiveMode: IfAvailable}}';
    expect(read(cluster, user).user.exec).toMatchObject({ clusterConfig: { audience: 'a' } });
  });

  it('may be JSON, and hold what others need', () => {
    const json = {
      'current-context': 'x',
      preferences: {},
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'n' } }],
      clusters: [{ name: 'c', cluster: { server, 'disable-compression': true } }],
      users: [{ name: 'u' }],
    };
    expect(parseKubeconfig(JSON.stringify(json), file)).toEqual({ server, user: {} });
  });

  it('is read from its file', () => {
    writeFileSync(file, config(SERVER, '{tokenFile: token}'));
    expect(readKubeconfig(file)).toEqual({ server, user: { tokenFile: join(folder, 'token') } });
  });
});

describe('a kubeconfig that is wrong', () => {
  const problemOf = (act: () => unknown): string => {
    try {
      act();
    } catch (error) {
      return (error as Error).message.replaceAll(folder, 'F');
    }
    throw new Error('nothing was wrong');
  };

  it('by not being there is named', () => {
    expect(problemOf(() => readKubeconfig(join(folder, 'nowhere')))).toBe(
      "invalid kubeconfig: ENOENT: no such file or directory, open 'F/nowhere'",
    );
  });

  it.each([
    ['', 'F/kubeconfig: is empty, expected a Config'],
    ['a: 1\n---\nb: 2\n', 'F/kubeconfig: holds several documents, expected one Config'],
    ['kind: Pod', 'F/kubeconfig:1:7: kind: expected "Config"'],
    ['apiVersion: v2', 'F/kubeconfig:1:13: apiVersion: expected "v1"'],
    ['kind: Config', 'F/kubeconfig:1:1: current-context: expected the name of a context'],
    ['current-context: x', 'F/kubeconfig:1:18: current-context: there is no context "x"'],
    ['users:\n- name: 5', 'F/kubeconfig:2:9: users[0].name: expected string, received number'],
    ['- a', 'F/kubeconfig:1:1: expected object, received array'],
  ])('%j', (content, expected) => {
    expect(problemOf(() => parseKubeconfig(content, file))).toBe(`invalid kubeconfig: ${expected}`);
  });

  it('as YAML is reported with its line', () => {
    expect(problemOf(() => parseKubeconfig('a: b\n  c: d\n', file))).toMatch(
      /^invalid kubeconfig: F\/kubeconfig:\d:\d: /,
    );
  });

  it.each([
    ['{}', 'contexts[1].context.cluster: expected the name of a cluster'],
    ['{cluster: c, user: v}', 'contexts[1].context.user: there is no user "v"'],
    ['{cluster: d, user: u}', 'contexts[1].context.cluster: there is no cluster "d"'],
  ])('context %s', (context, expected) => {
    expect(problemOf(() => parseKubeconfig(config(SERVER, '{}', context), file))).toContain(expected);
  });

  it.each([
    ['{}', 'clusters[0].cluster.server: expected a URL such as "https://10.0.0.1:6443"'],
    [
      '{server: "ftp://h"}',
      'clusters[0].cluster.server: expected a URL such as "https://10.0.0.1:6443", found "ftp://h"',
    ],
    ['{server: "https://h", proxy-url: "p:3128"}', 'clusters[0].cluster.proxy-url: expected a URL with the scheme'],
    [
      '{server: "https://h", certificate-authority: nowhere}',
      "certificate-authority: ENOENT: no such file or directory, open 'F/nowhere'",
    ],
    [
      '{server: "https://h", certificate-authority: text}',
      'certificate-authority: F/text: expected PEM with a certificate',
    ],
    [
      '{server: "https://h", certificate-authority-data: AAAA}',
      'certificate-authority-data: expected PEM with a certificate',
    ],
    [
      '{server: "https://h", certificate-authority: pki/cut.crt}',
      'certificate-authority: F/pki/cut.crt: expected PEM with a certificate: error:',
    ],
    [
      '{server: "https://h", certificate-authority: pki/ca.crt, insecure-skip-tls-verify: true}',
      'insecure-skip-tls-verify: must not be true beside a certificate authority',
    ],
  ])('cluster %s', (cluster, expected) => {
    expect(problemOf(() => read(cluster, '{}'))).toContain(expected);
  });

  it.each([
    ['{client-certificate: pki/client.pem}', 'users[0].user.client-key: expected the key of the client certificate'],
    ['{client-key: pki/client.pem}', 'users[0].user.client-certificate: expected the certificate of the client key'],
    [
      '{client-certificate: pki/ca.crt, client-key: pki/ca.crt}',
      'client-key: F/pki/ca.crt: expected PEM with a private key',
    ],
    [
      '{client-certificate: pki/client.pem, client-key: pki/other.key}',
      'client-key: F/pki/other.key: expected the key of the client certificate, found another one',
    ],
    [
      `{client-certificate-data: ${base64(CERT)}, client-key-data: ${base64(OTHER_KEY)}}`,
      'client-key-data: expected the key of the client certificate, found another one',
    ],
    [
      '{client-certificate: pki/cut.crt, client-key: pki/client.pem}',
      'client-certificate: F/pki/cut.crt: expected PEM with a certificate: error:',
    ],
    [`{client-certificate-data: ${base64(CERT)}, client-key-data: AAAA}`, 'expected PEM with a private key: error:'],
    ['{tokenFile: nowhere}', "users[0].user.tokenFile: ENOENT: no such file or directory, open 'F/nowhere'"],
    ['{token: t, username: a}', 'users[0].user.token: must not be there beside a user name and a password'],
    ['{auth-provider: {name: oidc}}', 'users[0].user.auth-provider: is not supported, expected exec'],
    ['{as-groups: [g]}', 'users[0].user.as: expected the user to impersonate'],
    ['{exec: {}}', 'users[0].user.exec.command: expected the program to run'],
    [
      '{exec: {command: c}}',
      'exec.apiVersion: expected "client.authentication.k8s.io/v1" or "client.authentication.k8s.io/v1beta1"',
    ],
    [
      '{exec: {apiVersion: client.authentication.k8s.io/v1, command: c}}',
      'exec.interactiveMode: expected Never, IfAvailable or Always',
    ],
    [
      '{exec: {apiVersion: client.authentication.k8s.io/v1, command: c, interactiveMode: Always}}',
      'exec.interactiveMode: must not be Always: an agent has no terminal',
    ],
    [
      '{exec: {apiVersion: client.authentication.k8s.io/v1, command: c, interactiveMode: Never, env: [{value: v}]}}',
      'exec.env[0].name: expected the name of a variable',
    ],
  ])('user %s', (user, expected) => {
    expect(problemOf(() => read(SERVER, user))).toContain(expected);
  });

  it('is reported with all problems at once', () => {
    expect(problemOf(() => read('{}', '{tokenFile: nowhere}'))).toMatch(/clusters\[0\].*; .*users\[0\]/);
  });

  it('never quotes a secret', () => {
    expect(problemOf(() => read(SERVER, '{token: hidden, username: a, password: hidden}'))).not.toContain('hidden');
  });
});
