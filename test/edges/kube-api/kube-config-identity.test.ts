import { type Cluster, KubeConfig, type User } from '@kubernetes/client-node';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { kubeConfigIdentity, type LoadedKubeConfig } from '../../../src/kube-api/kube-config-identity.js';
import { parseKubeconfig } from '../../../src/kube-api/kubeconfig.js';
import { type KubeApi, kubeApi } from '../../../src/kube-api/kube-api.js';
import { apiStage, type TestServer } from './api-stage.js';

const stage = apiStage();
afterAll(stage.end);
afterEach(() => void vi.unstubAllEnvs());

let server: TestServer;
let cluster: Cluster;
beforeAll(async () => {
  server = await stage.serve();
  cluster = { name: 'c', server: server.url, caData: base64(stage.ca.ca), skipTLSVerify: false };
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const loaded = (user: Omit<User, 'name'>, settings: Partial<Cluster> = {}): KubeConfig => {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ ...cluster, ...settings }, { name: 'u', ...user });
  return config;
};
const client = (config: LoadedKubeConfig): KubeApi => {
  const api = kubeApi(config, { userAgent: 'test', log: { info: () => undefined, warn: () => undefined } });
  stage.onEnd(api.close);
  return api;
};
const GET = { method: 'GET', path: '/p' } as const;
const authorizationsOf = async (api: KubeApi, requests: number): Promise<readonly unknown[]> => {
  const before = server.seen.length;
  for (let sent = 0; sent < requests; sent++) await lastValueFrom(api.request(GET));
  return server.seen.slice(before).map(({ headers }) => headers.authorization);
};

describe('a KubeConfig of the Kubernetes client', () => {
  it('returns the API server and the user', async () => {
    expect(await authorizationsOf(client(loaded({ token: 't' })), 1)).toEqual(['Bearer t']);
    const basic = `Basic ${base64('a:b')}`;
    expect(await authorizationsOf(client(loaded({ username: 'a', password: 'b' })), 1)).toEqual([basic]);
  });

  it('may be merged from the files that KUBECONFIG names', () => {
    const one = stage.write(
      'one',
      `clusters: [{name: c, cluster: {server: "https://h/", proxy-url: "socks5://p:1080"}}]\ncurrent-context: x`,
    );
    const other = stage.write(
      'other',
      'contexts: [{name: x, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: t, as: a}}]',
    );
    vi.stubEnv('KUBECONFIG', `${one}:${other}`);
    const config = new KubeConfig();
    config.loadFromDefault();
    expect(kubeConfigIdentity(config)).toEqual({
      server: 'https://h',
      proxyUrl: 'socks5://p:1080',
      user: { token: 't', impersonate: { user: 'a', uid: '', groups: [], extra: {} } },
    });
  });

  it('of a pod comes with the token of its service account, from its file', async () => {
    const tokenFile = stage.write('token', 'first');
    const config = loaded({ authProvider: { name: 'tokenFile', config: { tokenFile } } });
    expect(kubeConfigIdentity(config).user).toEqual({ tokenFile });
    expect(await authorizationsOf(client(config), 1)).toEqual(['Bearer first']);
  });

  it.each<[string, () => LoadedKubeConfig, string]>([
    ['without a context', () => new KubeConfig(), 'current-context: expected the name of a context'],
    [
      'with another provider of tokens',
      () => loaded({ authProvider: { name: 'oidc', config: {} } }),
      'users[0].user.auth-provider: is not supported, expected exec',
    ],
    [
      'with a program of no known version',
      () => loaded({ exec: { command: 'x', apiVersion: 'v0', interactiveMode: 'Never' } }),
      'users[0].user.exec.apiVersion: expected "client.authentication.k8s.io/v1" or "client.authentication.k8s.io/v1beta1"',
    ],
    [
      'with a proxy of another kind',
      () => loaded({}, { proxyUrl: 'ftp://p' }),
      'clusters[0].cluster.proxy-url: expected a URL with the scheme http, https or socks5, found "ftp://p"',
    ],
  ])('%s is refused, with the field', (_, config, expected) => {
    const of = config();
    of.exportConfig();
    expect(() => client(of)).toThrow(`invalid kubeconfig: KubeConfig: ${expected}`);
  });
});

/** Why the rest is not left to the client. A version of it that does these well fails here. */
describe('what the Kubernetes client does not do', () => {
  /** A program that brings a token without saying until when, and leaves a line for each of its runs. */
  const program = (): { readonly config: KubeConfig; readonly runs: () => string } => {
    const runs = stage.write('runs', '');
    const command = stage.write(
      'credentials.sh',
      `#!/bin/sh
echo "\${KUBERNETES_EXEC_INFO:+knows}" >> ${runs}
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"brought"}}'
`,
      0o700,
    );
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command, interactiveMode: 'Never' };
    return { config: loaded({ exec }), runs: () => readFileSync(runs, 'utf8') };
  };

  it('runs a program for credentials again for each request, and without KUBERNETES_EXEC_INFO; here it runs once, with it', async () => {
    const theirs = program();
    await theirs.config.applyToHTTPSOptions({});
    await theirs.config.applyToHTTPSOptions({});
    expect(theirs.runs()).toBe('\n\n');
    const ours = program();
    expect(await authorizationsOf(client(ours.config), 2)).toEqual(['Bearer brought', 'Bearer brought']);
    expect(ours.runs()).toBe('knows\n');
  });

  it('keeps connections: it makes an agent for each request; here two requests share a connection', async () => {
    const config = loaded({ token: 't' });
    const [one, other] = [{ agent: undefined }, { agent: undefined }];
    await config.applyToHTTPSOptions(one);
    await config.applyToHTTPSOptions(other);
    expect(one.agent).not.toBe(other.agent);
    const before = server.sockets.size;
    await authorizationsOf(client(config), 2);
    expect(server.sockets.size).toBe(before + 1);
  });

  it('reads tokenFile and groups to impersonate of a kubeconfig', () => {
    const tokenFile = stage.write('token', 'secret');
    const text = `current-context: x
contexts: [{name: x, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://h"}}]
users: [{name: u, user: {tokenFile: ${tokenFile}, as: a, as-groups: [g]}}]
`;
    const config = new KubeConfig();
    config.loadFromString(text);
    expect(kubeConfigIdentity(config).user).toEqual({ impersonate: { user: 'a', uid: '', groups: [], extra: {} } });
    expect(parseKubeconfig(text, join(stage.folder, 'kubeconfig')).user).toEqual({
      tokenFile,
      impersonate: { user: 'a', uid: '', groups: ['g'], extra: {} },
    });
  });

  it('merges two files that name the same cluster, of which the first one counts elsewhere', () => {
    const one = stage.write('one', 'clusters: [{name: c, cluster: {server: "https://h"}}]');
    const other = stage.write('other', 'clusters: [{name: c, cluster: {server: "https://other"}}]');
    vi.stubEnv('KUBECONFIG', `${one}:${other}`);
    expect(() => new KubeConfig().loadFromDefault()).toThrow('Duplicate cluster: c');
  });
});
