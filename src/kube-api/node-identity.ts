import { X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { catchError, firstValueFrom, type Observable, of } from 'rxjs';
import { errorText } from '../model/cri/cri-error.js';
import { isAbsence, isShortage } from '../model/values/file-error.js';
import type { CertificateStore } from '../streams/ports/certificate-store.js';
import type { Logger } from '../streams/ports/logger.js';
import type { ApiIdentity, IdentityUser } from './api-identity.js';
import { currentCertificatePath } from './certificate-store.js';
import { readKubeconfig } from './kubeconfig.js';
import { pemSource } from './pem-source.js';
import { writeKubeconfig } from './write-kubeconfig.js';
import { certificateBlocks } from '../model/certificates/certificate-blocks.js';

export interface NodeIdentityOptions {
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  /** Path of the kubeconfig with which a first certificate is requested; empty for none. */
  readonly bootstrapKubeconfig: string;
  /** Folder of the store. */
  readonly certDir: string;
  /** `rotateCertificates`. */
  readonly rotate: boolean;
  readonly store: CertificateStore;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** The identity of an agent at the API server. */
export interface NodeApiIdentity {
  /** The identity of the node. If `isManaged`, the files of its certificate may not exist yet. */
  readonly identity: ApiIdentity;
  /** The identity that may request the first certificate of a node. */
  readonly bootstrap?: ApiIdentity;
  /** Whether the certificate is in the store, so that the agent renews it. */
  readonly isManaged: boolean;
  /** Writes a kubeconfig that names the certificate of the store; absent if there is a usable one. */
  readonly writeKubeconfig?: () => Observable<never>;
}

/**
 * Decides which identity the agent uses. A kubeconfig with a valid certificate or with other credentials is used unchanged; the
 * bootstrap kubeconfig is then for the time after the expiry, and its file may be missing. Otherwise the bootstrap kubeconfig has to
 * exist, and the certificate is that of the store, once there is one. If certificates are rotated and the kubeconfig names one outside of
 * the store, it is copied into the store, unless the store has a valid one.
 *
 * Errors: a required kubeconfig cannot be read.
 * Source: pkg/kubelet/certificate/bootstrap/bootstrap.go LoadClientConfig, isClientConfigStillValid; cmd/kubelet/app/server.go
 *         buildKubeletClientConfig. The kubelet does not use a kubeconfig with a token if it can bootstrap.
 */
export const nodeIdentity = async (options: NodeIdentityOptions): Promise<NodeApiIdentity> => {
  const { kubeconfig, bootstrapKubeconfig, certDir, rotate, store, now, log } = options;
  const path = currentCertificatePath(certDir);
  const ofStore = ({ user: { impersonate }, ...server }: ApiIdentity): ApiIdentity => ({
    ...server,
    user: { certificate: { file: path }, key: { file: path }, ...(impersonate && { impersonate }) },
  });
  // Read first: this completes an interrupted write of the files that the kubeconfig may name.
  const stored = await firstValueFrom(store.current().pipe(catchError(() => of(undefined))));
  const own = readUsable(options);
  if (!own) {
    const bootstrap = readKubeconfig(bootstrapKubeconfig);
    return {
      identity: ofStore({ ...bootstrap, user: {} }),
      bootstrap,
      isManaged: true,
      writeKubeconfig: () => writeKubeconfig(kubeconfig, bootstrap, path),
    };
  }
  const bootstrap = readUnneeded(options);
  const { certificate, key } = own.user;
  if (!certificate || !key) return { identity: own, isManaged: false };
  const isOfStore = 'file' in certificate && certificate.file === path;
  if (!isOfStore && !rotate) return { identity: own, isManaged: false };
  if (!isOfStore && (stored === undefined || stored.notAfter < now())) {
    try {
      await firstValueFrom(store.replace(pemSource(certificate)(), pemSource(key)()));
      log.info({ kubeconfig, path }, 'copied the certificate of the kubeconfig into the store');
    } catch (error) {
      log.warn(
        { error: errorText(error) },
        'cannot copy the certificate of the kubeconfig into the store, so it is not renewed',
      );
      return { identity: own, isManaged: false };
    }
  }
  return { identity: isOfStore ? own : ofStore(own), ...(bootstrap && { bootstrap }), isManaged: true };
};

/** Returns the identity of the kubeconfig; undefined if it cannot be used and there is a bootstrap kubeconfig. */
const readUsable = ({ kubeconfig, bootstrapKubeconfig, now, log }: NodeIdentityOptions): ApiIdentity | undefined => {
  if (bootstrapKubeconfig === '') return readKubeconfig(kubeconfig);
  if (!isThere(kubeconfig)) return undefined;
  try {
    const identity = readKubeconfig(kubeconfig);
    const problem = problemOf(identity.user, now());
    if (problem === undefined) return identity;
    log.warn({ kubeconfig, problem }, 'the kubeconfig cannot be used, requesting a certificate');
  } catch (error) {
    if (isShortage(error) || isShortage((error as Error).cause)) throw error;
    log.warn({ kubeconfig, problem: errorText(error) }, 'the kubeconfig cannot be used, requesting a certificate');
  }
  return undefined;
};

/** Returns the identity for the time after the expiry of the certificate; undefined if it is missing, since it is not needed yet. */
const readUnneeded = ({ bootstrapKubeconfig, log }: NodeIdentityOptions): ApiIdentity | undefined => {
  if (bootstrapKubeconfig === '' || !isThere(bootstrapKubeconfig)) return undefined;
  try {
    return readKubeconfig(bootstrapKubeconfig);
  } catch (error) {
    log.warn({ problem: errorText(error) }, 'the bootstrap kubeconfig cannot be used, and is not needed');
    return undefined;
  }
};

/** Returns the reason why the credentials cannot be used; undefined if they can. */
const problemOf = ({ certificate, token, tokenFile, basic, exec }: IdentityUser, now: number): string | undefined => {
  if (!certificate) return (token ?? tokenFile ?? basic ?? exec) ? undefined : 'there are no credentials in it';
  const chain = certificateBlocks(pemSource(certificate)());
  const ended = chain.map((pem) => new X509Certificate(pem).validTo).find((validTo) => Date.parse(validTo) < now);
  return ended === undefined ? undefined : `its certificate has expired on ${ended}`;
};

/** Whether the file exists. Errors: that cannot be determined, which is no reason to request another certificate. */
const isThere = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
};
