import { createPrivateKey, X509Certificate } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { defer, from, ignoreElements } from 'rxjs';
import writeFileAtomic from 'write-file-atomic';
import { CertificateRefused } from '../model/certificates/certificate-refused.js';
import { type ClientCertificate, isExpired } from '../model/certificates/client-certificate.js';
import { errorText } from '../model/cri-error.js';
import type { CertificateStore, Logger } from '../streams/ports.js';

const PREFIX = 'kubelet-client';
const CURRENT = `${PREFIX}-current.pem`;
/** The link while it is made. */
const UPDATED = `${PREFIX}-updated.pem`;
/** Source: pkg/kubelet/certificate/bootstrap/bootstrap.go tmpPrivateKeyFile */
const PENDING_KEY = `${PREFIX}.key.tmp`;
const PAIR = new RegExp(`^${PREFIX}-\\d{4}(-\\d\\d){5}\\.pem$`);
/** What a write that was killed has left. */
const LEFTOVER = new RegExp(`^${PREFIX}[-.\\w]*\\.(pem|tmp)\\.\\d+$`);
/** Pairs that stay: the one in use and those before it. */
const KEPT_PAIRS = 5;

export interface CertificateStoreOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

/** Where the certificate in use and its key are, both in this one file: what a kubeconfig names. */
export const currentCertificatePath = (folder: string): string => join(resolve(folder), CURRENT);

/**
 * Pairs of a certificate and its key in a folder, as the kubelet keeps them: each in a file that is called for the second in which it
 * was made, for its owner only, and a link to the one in use. The link always leads to a whole pair, whenever the machine stops.
 * Five pairs stay.
 *
 * Where the link leads to nothing that can be used, the newest pair that can be is taken, and that is said.
 *
 * Source: staging/src/k8s.io/client-go/util/certificate/certificate_store.go, which keeps every pair for good, and removes the link
 *         before it makes the next
 */
export const certificateStore = (folder: string, { now, log }: CertificateStoreOptions): CertificateStore => {
  const directory = resolve(folder);
  const pathOf = (name: string): string => join(directory, name);
  const read = async (path: string): Promise<ClientCertificate> => readPair(await readFile(path, 'utf8'), path);

  /** Ends what a killed agent has begun. */
  const recover = async (): Promise<void> => {
    if (!(await isThere(pathOf(CURRENT))) && (await isLink(pathOf(UPDATED)))) {
      await rename(pathOf(UPDATED), pathOf(CURRENT));
    }
    for (const name of await namesIn(directory)) if (LEFTOVER.test(name)) await rm(pathOf(name), { force: true });
  };

  const pairs = async (): Promise<readonly string[]> =>
    (await namesIn(directory))
      .filter((name) => PAIR.test(name))
      .sort()
      .reverse();

  /** The newest pair that can be used, or else the error that the one in use has. */
  const newestUsable = async (problem: unknown): Promise<ClientCertificate> => {
    for (const name of await pairs()) {
      const found = await read(pathOf(name)).catch(() => undefined);
      if (!found || isExpired(found, now())) continue;
      log.warn({ error: errorText(problem), instead: pathOf(name) }, 'the client certificate in use cannot be read');
      await pointTo(name);
      return found;
    }
    throw problem;
  };

  const pointTo = async (name: string): Promise<void> => {
    const current = await lstat(pathOf(CURRENT)).catch(undefinedIfMissing);
    if (current && !current.isSymbolicLink()) throw new Error(`${pathOf(CURRENT)}: is a file, expected a link to one`);
    await rm(pathOf(UPDATED), { force: true });
    await symlink(pathOf(name), pathOf(UPDATED));
    await rename(pathOf(UPDATED), pathOf(CURRENT));
  };

  const current = async (): Promise<ClientCertificate | undefined> => {
    await recover();
    const hasOne = (await lstat(pathOf(CURRENT)).catch(undefinedIfMissing)) !== undefined;
    if (hasOne) return read(pathOf(CURRENT)).catch(newestUsable);
    // As a user may have put them there.
    const [certificate, key] = await Promise.all(
      [`${PREFIX}.crt`, `${PREFIX}.key`].map((name) => readFile(pathOf(name), 'utf8').catch(undefinedIfMissing)),
    );
    return certificate !== undefined && key !== undefined
      ? readPair(`${certificate}\n${key}`, pathOf(`${PREFIX}.crt`))
      : undefined;
  };

  const replace = async (certificatePem: string, keyPem: string): Promise<ClientCertificate> => {
    const content = `${certificatePem.trim()}\n${keyPem.trim()}\n`;
    const found = readPair(content, 'what was signed');
    if (isExpired(found, now())) throw new CertificateRefused('the certificate that was signed has ended already');
    const name = `${PREFIX}-${localSecond(now())}.pem`;
    await mkdir(directory, { recursive: true, mode: 0o755 });
    await writeFileAtomic(pathOf(name), content, { mode: 0o600 });
    await pointTo(name);
    for (const old of (await pairs()).filter((pair) => pair !== name).slice(KEPT_PAIRS - 1)) {
      await rm(pathOf(old), { force: true });
    }
    return found;
  };

  const keepKey = async (keyPem: string): Promise<void> => {
    await mkdir(directory, { recursive: true, mode: 0o755 });
    await writeFileAtomic(pathOf(PENDING_KEY), keyPem, { mode: 0o600 });
  };

  return {
    current: () => defer(current),
    replace: (certificatePem, keyPem) => defer(() => replace(certificatePem, keyPem)),
    pendingKey: () =>
      defer(async () => {
        const key = await readFile(pathOf(PENDING_KEY), 'utf8').catch(undefinedIfMissing);
        if (key === undefined || isPrivateKey(key)) return key;
        log.warn({ path: pathOf(PENDING_KEY) }, 'what is there is no private key, it is passed over');
        return undefined;
      }),
    keepPendingKey: (keyPem) => defer(() => from(keepKey(keyPem))).pipe(ignoreElements()),
    forgetPendingKey: () => defer(() => from(rm(pathOf(PENDING_KEY), { force: true }))).pipe(ignoreElements()),
  };
};

/**
 * The first certificate of a text, which has its key in it as well.
 *
 * Errors: `CertificateRefused`, by what the text is called, when there is no certificate or no key, or when they do not belong together.
 */
export const readPair = (content: string, name: string): ClientCertificate => {
  const parse = <T>(what: string, read: () => T): T => {
    try {
      return read();
    } catch (error) {
      throw new CertificateRefused(`${name}: expected ${what}: ${errorText(error)}`, { cause: error });
    }
  };
  const [certificatePem = ''] = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/.exec(content) ?? [];
  const [keyPem = ''] = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?-----END [A-Z ]*PRIVATE KEY-----/.exec(content) ?? [];
  const certificate = parse('PEM with a certificate', () => new X509Certificate(certificatePem));
  const key = parse('PEM with a private key', () => createPrivateKey(keyPem));
  if (!certificate.checkPrivateKey(key)) {
    throw new CertificateRefused(`${name}: the certificate is not one of the key beside it`);
  }
  const { CN = '', O = [] } = certificate.toLegacyObject().subject as unknown as {
    readonly CN?: string;
    readonly O?: string | readonly string[];
  };
  return {
    commonName: CN,
    organizations: [O].flat(),
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
    fingerprint: certificate.fingerprint256,
  };
};

const isPrivateKey = (pem: string): boolean => {
  try {
    createPrivateKey(pem);
    return true;
  } catch {
    return false;
  }
};

/** `2026-06-07-08-09-10`, in the time of this machine. */
const localSecond = (at: number): string => {
  const time = new Date(at);
  const parts = [time.getMonth() + 1, time.getDate(), time.getHours(), time.getMinutes(), time.getSeconds()];
  return [String(time.getFullYear()), ...parts.map((part) => String(part).padStart(2, '0'))].join('-');
};

const namesIn = (directory: string): Promise<readonly string[]> =>
  readdir(directory).catch((error: NodeJS.ErrnoException) => undefinedIfMissing(error) ?? []);

/** Whatever the link leads to. */
const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(undefinedIfMissing)) !== undefined;

const isLink = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(undefinedIfMissing))?.isSymbolicLink() ?? false;

const undefinedIfMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};
