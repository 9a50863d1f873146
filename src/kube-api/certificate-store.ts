import { createPrivateKey, X509Certificate } from 'node:crypto';
import { lstat, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
// For `toLegacyObject`: in Node.js 20 the module has no `createSecureContext` for the life of the process if that method loads it.
import 'node:tls';
import { defer, from, ignoreElements } from 'rxjs';
import { CertificateRefused } from '../model/certificates/certificate-refused.js';
import { type NodeCertificate, isExpired } from '../model/certificates/node-certificate.js';
import type { CertificateUse } from '../model/certificates/signing-request.js';
import { errorText } from '../model/cri/cri-error.js';
import { formatIp, parseIp } from '../model/node/ip.js';
import { isShortage } from '../model/values/file-error.js';
import { replaceFile } from '../processes/replace-file.js';
import { syncDirectory } from '../processes/sync-directory.js';
import type { CertificateStore } from '../streams/ports/certificate-store.js';
import type { Logger } from '../streams/ports/logger.js';
import { certificateBlocks } from '../model/certificates/certificate-blocks.js';

const PREFIXES: Readonly<Record<CertificateUse, string>> = { client: 'kubelet-client', serving: 'kubelet-server' };
/** The number of pairs that are kept: the one in use and those before it. */
const KEPT_PAIRS = 5;

export interface CertificateStoreOptions {
  /** Certificates of each use have files of their own. Default: `client`. */
  readonly use?: CertificateUse;
  /** The files of a user, for as long as the store has no pair. Default: the names of the use, with `.crt` and `.key`. */
  readonly fallback?: { readonly certFile: string; readonly keyFile: string };
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

/** The path of the file with the current certificate and its key, which a kubeconfig names. */
export const currentCertificatePath = (folder: string, use: CertificateUse = 'client'): string =>
  join(resolve(folder), namesOf(use).current);

/** The names of the files of certificates for one use. */
const namesOf = (use: CertificateUse) => {
  const prefix = PREFIXES[use];
  return {
    prefix,
    current: `${prefix}-current.pem`,
    /** The new link before it replaces the current one. */
    updated: `${prefix}-updated.pem`,
    /** Source: pkg/kubelet/certificate/bootstrap/bootstrap.go tmpPrivateKeyFile */
    pendingKey: `${prefix}.key.tmp`,
    pair: new RegExp(`^${prefix}-\\d{4}(-\\d\\d){5}\\.pem$`),
    /** The temporary files of an interrupted write. */
    leftover: new RegExp(`^${prefix}[-.\\w]*\\.(pem|tmp)\\.\\d+$`),
  };
};

/**
 * Makes a store of certificates with their keys in a folder, in the layout of the kubelet: a file for each pair, named for the second of
 * its creation and readable for its owner only, and a link to the current one. The link names a complete pair at any time, also after a
 * power failure. Five pairs are kept.
 *
 * If the pair of the link cannot be used, the newest usable pair is taken, with a warning.
 *
 * Source: staging/src/k8s.io/client-go/util/certificate/certificate_store.go, which keeps every pair, and removes the link before it
 *         creates the next
 */
export const certificateStore = (
  folder: string,
  { use = 'client', fallback, now, log }: CertificateStoreOptions,
): CertificateStore => {
  const directory = resolve(folder);
  const names = namesOf(use);
  const pathOf = (name: string): string => join(directory, name);
  const ofUser = fallback ?? { certFile: pathOf(`${names.prefix}.crt`), keyFile: pathOf(`${names.prefix}.key`) };
  const read = async (path: string): Promise<NodeCertificate> => readPair(await readFile(path, 'utf8'), path);

  /** Completes the interrupted write of an agent that was killed. */
  const recover = async (): Promise<void> => {
    if (!(await isThere(pathOf(names.current))) && (await isLink(pathOf(names.updated)))) {
      await rename(pathOf(names.updated), pathOf(names.current));
    }
    for (const name of await namesIn(directory)) if (names.leftover.test(name)) await rm(pathOf(name), { force: true });
  };

  const pairs = async (): Promise<readonly string[]> =>
    (await namesIn(directory))
      .filter((name) => names.pair.test(name))
      .sort()
      .reverse();

  /** Returns the newest usable pair, or else fails with the error of the current one. */
  const newestUsable = async (problem: unknown): Promise<NodeCertificate> => {
    // The file is not known to be broken.
    if (isShortage(problem)) throw problem;
    for (const name of await pairs()) {
      const found = await read(pathOf(name)).catch(() => undefined);
      if (!found || isExpired(found, now())) continue;
      log.warn({ error: errorText(problem), instead: pathOf(name) }, `the ${use} certificate in use cannot be read`);
      await pointTo(name);
      return found;
    }
    throw problem;
  };

  const pointTo = async (name: string): Promise<void> => {
    const current = await lstat(pathOf(names.current)).catch(undefinedIfMissing);
    if (current && !current.isSymbolicLink())
      throw new Error(`${pathOf(names.current)}: is a file, expected a link to one`);
    await rm(pathOf(names.updated), { force: true });
    await symlink(pathOf(name), pathOf(names.updated));
    await rename(pathOf(names.updated), pathOf(names.current));
    await syncDirectory(directory);
  };

  const current = async (): Promise<NodeCertificate | undefined> => {
    await recover();
    const hasOne = (await lstat(pathOf(names.current)).catch(undefinedIfMissing)) !== undefined;
    if (hasOne) return read(pathOf(names.current)).catch(newestUsable);
    // The files of a user who created the certificate by hand.
    const [certificate, key] = await Promise.all(
      [ofUser.certFile, ofUser.keyFile].map((path) => readFile(path, 'utf8').catch(undefinedIfMissing)),
    );
    return certificate !== undefined && key !== undefined
      ? readPair(`${certificate}\n${key}`, ofUser.certFile)
      : undefined;
  };

  const replace = async (certificatePem: string, keyPem: string): Promise<NodeCertificate> => {
    const content = `${certificatePem.trim()}\n${keyPem.trim()}\n`;
    const found = readPair(content, 'the signed certificate');
    if (isExpired(found, now())) throw new CertificateRefused('the signed certificate has expired already');
    const name = `${names.prefix}-${localSecond(now())}.pem`;
    await replaceFile(pathOf(name), content, { mode: 0o600, directoryMode: 0o755 });
    await pointTo(name);
    for (const old of (await pairs()).filter((pair) => pair !== name).slice(KEPT_PAIRS - 1)) {
      await rm(pathOf(old), { force: true });
    }
    return found;
  };

  const keepKey = (keyPem: string): Promise<void> =>
    replaceFile(pathOf(names.pendingKey), keyPem, { mode: 0o600, directoryMode: 0o755 });

  return {
    current: () => defer(current),
    replace: (certificatePem, keyPem) => defer(() => replace(certificatePem, keyPem)),
    pendingKey: () =>
      defer(async () => {
        const key = await readFile(pathOf(names.pendingKey), 'utf8').catch(undefinedIfMissing);
        if (key === undefined || isPrivateKey(key)) return key;
        log.warn({ path: pathOf(names.pendingKey) }, 'the file is no private key and is ignored');
        return undefined;
      }),
    keepPendingKey: (keyPem) => defer(() => from(keepKey(keyPem))).pipe(ignoreElements()),
    forgetPendingKey: () => defer(() => from(rm(pathOf(names.pendingKey), { force: true }))).pipe(ignoreElements()),
  };
};

/**
 * Returns the first certificate of a text that also contains its key.
 *
 * Errors: `CertificateRefused` with the name of the text, if there is no certificate or no key, or if they do not belong together.
 */
const readPair = (content: string, name: string): NodeCertificate => {
  const parse = <T>(what: string, read: () => T): T => {
    try {
      return read();
    } catch (error) {
      throw new CertificateRefused(`${name}: expected ${what}: ${errorText(error)}`, { cause: error });
    }
  };
  const [certificatePem = ''] = certificateBlocks(content);
  const [keyPem = ''] = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?-----END [A-Z ]*PRIVATE KEY-----/.exec(content) ?? [];
  const certificate = parse('PEM with a certificate', () => new X509Certificate(certificatePem));
  const key = parse('PEM with a private key', () => createPrivateKey(keyPem));
  if (!certificate.checkPrivateKey(key)) {
    throw new CertificateRefused(`${name}: the certificate does not belong to the key beside it`);
  }
  const { CN = '', O = [] } = certificate.toLegacyObject().subject as unknown as {
    readonly CN?: string;
    readonly O?: string | readonly string[];
  };
  return {
    commonName: CN,
    organizations: [O].flat(),
    ...hostsOf(certificate),
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
    fingerprint: certificate.fingerprint256,
  };
};

/** The names and addresses of a certificate; both are absent if it has neither. */
const hostsOf = ({ subjectAltName = '' }: X509Certificate): Pick<NodeCertificate, 'dnsNames' | 'ips'> => {
  const hosts = subjectAltName.split(', ');
  const of = (type: string): readonly string[] =>
    hosts.flatMap((host) => (host.startsWith(type) ? [host.slice(type.length)] : []));
  const ips = of('IP Address:').map((text) => {
    const ip = parseIp(text);
    return ip ? formatIp(ip) : text;
  });
  return subjectAltName === '' ? {} : { dnsNames: of('DNS:'), ips };
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

/** Whether the path exists, after the resolution of links. */
const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(undefinedIfMissing)) !== undefined;

const isLink = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(undefinedIfMissing))?.isSymbolicLink() ?? false;

const undefinedIfMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};
