import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { asyncScheduler, firstValueFrom, Subject, takeUntil } from 'rxjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { certificateKeys } from '../../../src/kube-api/certificate-keys.js';
import { certificateStore } from '../../../src/kube-api/certificate-store.js';
import { kubeApi, type KubeApi } from '../../../src/kube-api/kube-api.js';
import { lateKubeApi } from '../../../src/kube-api/late-kube-api.js';
import { nodeIdentity } from '../../../src/kube-api/node-identity.js';
import type { NodeCertificate } from '../../../src/model/certificates/node-certificate.js';
import { clientCertificates } from '../../../src/streams/certificates/client-certificates.js';
import { eventually } from '../../embedded/eventually.js';
import { metricLines } from '../../support/metric-lines.js';
import { type ApiStage, apiStage, type TestServer } from './api-stage.js';
import { Authority, type Life, verifiedRequest } from './authority.js';
import { type AskedRequest, csrServer, type CsrServer } from './csr-server.js';

const NODE = 'node-1';
/** Whose end is near: with a draw of 0 the next one is asked for 1 s after it was signed. */
const SHORT: Life = { since: 230, until: 100 };
const LONG: Life = { since: 20, until: 3_600 };

let stage: ApiStage;
let authority: Authority;
let server: TestServer;
let csrs: CsrServer;
let signs: (request: AskedRequest) => Life | undefined;
let folder: string;
const stop$ = new Subject<void>();

beforeAll(() => {
  stage = apiStage();
  authority = new Authority(stage.folder);
});
afterAll(() => stage.end());
beforeEach(async () => {
  folder = join(stage.folder, `agent-${readdirSync(stage.folder).length}`);
  mkdirSync(folder);
  signs = () => LONG;
  // The controller manager approves and signs, in another process and some time later.
  csrs = csrServer((request) => setImmediate(() => approve(request)));
  server = await stage.serve(authority.pair('/CN=server', LONG, 'server'));
  server.answer = csrs.answer;
});
afterEach(() => {
  stop$.next();
  server.close();
});

const approve = (request: AskedRequest): void => {
  const life = signs(request);
  if (!life) return;
  const pem = authority.sign(Buffer.from(request.spec.request, 'base64').toString(), life);
  csrs.decide(request.metadata.name, {
    conditions: [{ type: 'Approved' }],
    certificate: Buffer.from(pem).toString('base64'),
  });
};

const pathOf = (name: string): string => join(folder, name);
const KUBECONFIG = 'kubeconfig';
const CURRENT = 'pki/kubelet-client-current.pem';

const writeConfig = (name: string, user: object): void =>
  writeFileSync(
    pathOf(name),
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [
        {
          name: 'c',
          cluster: {
            server: server.url,
            'certificate-authority-data': Buffer.from(authority.ca).toString('base64'),
          },
        },
      ],
      users: [{ name: 'u', user }],
    }),
  );

interface Agent {
  readonly api: KubeApi;
  readonly certificates: NodeCertificate[];
  readonly logged: string[];
}

/** An agent's client and its certificates, until the test is over. */
const start = async ({ rotate = true, bootstrap = true } = {}): Promise<Agent> => {
  const logged: string[] = [];
  const say = (_: object, text: string): void => void logged.push(text);
  const log = { debug: say, info: say, warn: say, error: say };
  const now = (): number => Date.now();
  const store = certificateStore(pathOf('pki'), { now, log });
  const found = await nodeIdentity({
    kubeconfig: pathOf(KUBECONFIG),
    bootstrapKubeconfig: bootstrap ? pathOf('bootstrap') : '',
    certDir: pathOf('pki'),
    ...{ rotate, store, now, log },
  });
  const options = { userAgent: 'test', log, env: {} };
  const api = (found.isManaged ? lateKubeApi : kubeApi)(found.identity, options);
  stage.onEnd(api.close);
  const certificates: NodeCertificate[] = [];
  if (!found.isManaged) return { api, certificates, logged };
  const bootstrapApi = found.bootstrap && kubeApi(found.bootstrap, options);
  if (bootstrapApi) stage.onEnd(bootstrapApi.close);
  clientCertificates(
    {
      ...{ api, store, keys: certificateKeys(), scheduler: asyncScheduler, random: () => 0, wallClock: now, log },
      metrics: metricLines().metrics,
      ...(bootstrapApi && { bootstrapApi }),
      ...(found.writeKubeconfig && { writeKubeconfig: found.writeKubeconfig }),
    },
    { nodeName: NODE, rotate },
  )
    .pipe(takeUntil(stop$))
    .subscribe((certificate) => certificates.push(certificate));
  return { api, certificates, logged };
};

/** The common name that the server sees. */
const whoIs = async (api: KubeApi): Promise<string> => {
  const { from } = (await firstValueFrom(api.request({ method: 'GET', path: '/who' }))) as { readonly from: string };
  return from;
};

describe('an agent with a bootstrap kubeconfig', () => {
  it('gets a certificate from OpenSSL, writes its kubeconfig, and needs nothing else from then on', async () => {
    writeConfig('bootstrap', { token: 'bootstrap-token' });
    const { api } = await start();
    await expect(whoIs(api)).rejects.toThrow('there is no client certificate yet');
    await eventually('it comes as the node', async () => (await whoIs(api)) === 'system:node:node-1');
    const [asked, ...others] = csrs.requests.values();
    expect(others).toEqual([]);
    expect(asked).toMatchObject({
      metadata: { name: expect.stringMatching(/^node-csr-[\w-]{43}$/) as string },
      spec: {
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
      },
      from: 'bootstrap-token',
    });
    const pem = Buffer.from(asked?.spec.request ?? '', 'base64').toString();
    expect(verifiedRequest(stage.folder, pem)).toContain('CN=system:node:node-1,O=system:nodes');

    await eventually('the kubeconfig is written', () => existsSync(pathOf(KUBECONFIG)));
    expect(readFileSync(pathOf(KUBECONFIG), 'utf8')).toContain(`client-certificate: ${pathOf(CURRENT)}`);
    expect((statSync(pathOf(KUBECONFIG)).mode & 0o777).toString(8)).toBe('600');
    expect(existsSync(pathOf('pki/kubelet-client.key.tmp'))).toBe(false);
    stop$.next();

    const restarted = await start({ bootstrap: false });
    expect(await whoIs(restarted.api)).toBe('system:node:node-1');
    await eventually('it has looked', () => restarted.certificates.length > 0);
    expect(csrs.requests.size).toBe(1);
  });

  it('that was killed before it was answered goes on with the same request', async () => {
    writeConfig('bootstrap', { token: 'bootstrap-token' });
    signs = () => undefined;
    await start();
    await eventually('it has asked', () => csrs.requests.size === 1);
    stop$.next();
    signs = () => LONG;
    const { api, certificates } = await start();
    for (const request of csrs.requests.values()) approve(request);
    await eventually('it has one', () => certificates.length > 0);
    expect(await whoIs(api)).toBe('system:node:node-1');
    expect(csrs.requests.size).toBe(1);
  });

  it('does not request a certificate if its kubeconfig, or a file of that, cannot be read just now', async () => {
    writeConfig('bootstrap', { token: 'bootstrap-token' });
    // Every read of it is an EIO.
    symlinkSync('/proc/self/mem', pathOf('mem'));
    writeConfig(KUBECONFIG, { 'client-certificate': 'mem', 'client-key': 'mem' });
    await expect(start()).rejects.toThrow('EIO');
    rmSync(pathOf(KUBECONFIG));
    symlinkSync('/proc/self/mem', pathOf(KUBECONFIG));
    await expect(start()).rejects.toThrow('EIO');
    expect(csrs.requests.size).toBe(0);
  });

  it('requests a certificate if that of its kubeconfig has expired', async () => {
    writeConfig('bootstrap', { token: 'bootstrap-token' });
    const { cert, key } = authority.pair('/O=system:nodes/CN=system:node:node-1', { since: 100, until: -1 });
    writeFileSync(pathOf('old.crt'), cert);
    writeFileSync(pathOf('old.key'), key);
    writeConfig(KUBECONFIG, { 'client-certificate': 'old.crt', 'client-key': 'old.key' });
    const { api, logged } = await start();
    await eventually('it comes as the node', async () => (await whoIs(api)) === 'system:node:node-1');
    expect(logged).toContain('the kubeconfig cannot be used, requesting a certificate');
    await eventually('the kubeconfig is another one', () =>
      readFileSync(pathOf(KUBECONFIG), 'utf8').includes(pathOf(CURRENT)),
    );
  });

  it.each<[string, object]>([
    ['a token', { token: 'own' }],
    ['a certificate that holds', {}],
  ])('uses a kubeconfig with %s as it is, and may then have lost the other one', async (_, user) => {
    const { cert, key } = authority.pair('/O=system:nodes/CN=own', LONG);
    writeFileSync(pathOf('own.pem'), `${cert}${key}`);
    const own = 'token' in user ? user : { 'client-certificate': 'own.pem', 'client-key': 'own.pem' };
    writeConfig(KUBECONFIG, own);
    const before = readFileSync(pathOf(KUBECONFIG), 'utf8');
    const { api } = await start({ rotate: false });
    expect(await whoIs(api)).toBe('token' in user ? '' : 'own');
    expect(readFileSync(pathOf(KUBECONFIG), 'utf8')).toBe(before);
    expect(existsSync(pathOf('pki'))).toBe(false);
  });

  it('does not need one that cannot be used while it has its own', async () => {
    writeConfig(KUBECONFIG, { token: 'own' });
    writeFileSync(pathOf('bootstrap'), 'current-context: [');
    const { api, logged } = await start();
    expect(await whoIs(api)).toBe('');
    expect(logged).toEqual(['the bootstrap kubeconfig cannot be used, and is not needed']);
  });

  it('cannot start without either', async () => {
    await expect(start()).rejects.toThrow(`${pathOf('bootstrap')}`);
    writeConfig(KUBECONFIG, {});
    await expect(start()).rejects.toThrow(`${pathOf('bootstrap')}`);
    await expect(start({ bootstrap: false })).resolves.toBeDefined();
  });
});

describe('a certificate whose end is near', () => {
  it('is replaced in time by one with another key, and both client and files go on with it', async () => {
    writeConfig('bootstrap', { token: 'bootstrap-token' });
    signs = ({ metadata }) => (metadata.name.startsWith('node-csr-') ? SHORT : LONG);
    const { api, certificates } = await start();
    await eventually('there is a second one', () => certificates.length === 2);
    const [first, second] = [...csrs.requests.values()];
    expect(second).toMatchObject({ metadata: { name: 'csr-2' }, from: 'system:node:node-1' });
    expect(first?.from).toBe('bootstrap-token');
    expect(certificates[0]?.fingerprint).not.toBe(certificates[1]?.fingerprint);
    expect(await whoIs(api)).toBe('system:node:node-1');
    const keyIn = ({ spec }: AskedRequest): string | undefined =>
      /pub:([^]*?)ASN1 OID/.exec(verifiedRequest(stage.folder, Buffer.from(spec.request, 'base64').toString()))?.[1];
    expect(new Set([...csrs.requests.values()].map(keyIn)).size).toBe(2);
    expect(existsSync(pathOf('pki/kubelet-client.key.tmp'))).toBe(false);
  });

  it('of the kubeconfig itself is taken into the store, and renewed there', async () => {
    const { cert, key } = authority.pair('/O=system:nodes/CN=system:node:node-1', SHORT);
    const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
    writeConfig(KUBECONFIG, { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) });
    const { api, certificates } = await start({ bootstrap: false });
    expect(await whoIs(api)).toBe('system:node:node-1');
    await eventually('there is a second one', () => certificates.length === 2);
    expect([...csrs.requests.values()]).toMatchObject([{ from: 'system:node:node-1' }]);
    stop$.next();
    // The store has the better one now.
    const restarted = await start({ bootstrap: false });
    await eventually('it has looked', () => restarted.certificates.length > 0);
    expect(restarted.certificates[0]?.fingerprint).toBe(certificates[1]?.fingerprint);
  });

  it('of the kubeconfig goes on where there is no place for it', async () => {
    const { cert, key } = authority.pair('/O=system:nodes/CN=own', LONG);
    writeFileSync(pathOf('own.pem'), `${cert}${key}`);
    writeConfig(KUBECONFIG, { 'client-certificate': 'own.pem', 'client-key': 'own.pem' });
    // A file where the folder should be.
    writeFileSync(pathOf('pki'), '');
    const { api, logged } = await start({ bootstrap: false });
    expect(await whoIs(api)).toBe('own');
    expect(logged).toEqual(['cannot copy the certificate of the kubeconfig into the store, so it is not renewed']);
  });
});
