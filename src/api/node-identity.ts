import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { catchError, firstValueFrom, type Observable, of } from 'rxjs';
import { errorText } from '../model/cri-error.js';
import type { CertificateStore, Logger } from '../streams/ports.js';
import type { ApiIdentity, ApiUser } from './api-identity.js';
import { currentCertificatePath } from './certificate-store.js';
import { readKubeconfig } from './kubeconfig.js';
import { pemSource } from './pem-source.js';
import { writeKubeconfig } from './write-kubeconfig.js';

export interface NodeIdentityOptions {
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  /** Path of the one with which a first certificate is asked for; empty for none. */
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

/** As whom an agent speaks to the API server. */
export interface NodeIdentity {
  /** As the node. Where `isManaged`, the files of its certificate may not be there yet. */
  readonly identity: ApiIdentity;
  /** As somebody who may ask for the first certificate of a node. */
  readonly bootstrap?: ApiIdentity;
  /** The certificate is one of the store, which is to be kept as it should be. */
  readonly isManaged: boolean;
  /** Writes the kubeconfig that names the certificate of the store; there is none yet that can be used. */
  readonly writeKubeconfig?: () => Observable<never>;
}

/**
 * Decides as whom to come. A kubeconfig whose certificate has not ended, or which has other credentials, is used as it is, and then a
 * bootstrap kubeconfig is only for when the certificate ends; its file may be missing. Otherwise there has to be one, and the
 * certificate is the one of the store, once there is one. Where certificates are rotated and the kubeconfig has one that is not of the
 * store, that one is put there, unless the store has a better one.
 *
 * Errors: a kubeconfig that is needed cannot be read.
 * Source: pkg/kubelet/certificate/bootstrap/bootstrap.go LoadClientConfig, isClientConfigStillValid; cmd/kubelet/app/server.go
 *         buildKubeletClientConfig. To the kubelet a kubeconfig with a token is none that can be used where it could bootstrap.
 */
export const nodeIdentity = async (options: NodeIdentityOptions): Promise<NodeIdentity> => {
  const { kubeconfig, bootstrapKubeconfig, certDir, rotate, store, now, log } = options;
  const path = currentCertificatePath(certDir);
  const ofStore = ({ user: { impersonate }, ...server }: ApiIdentity): ApiIdentity => ({
    ...server,
    user: { certificate: { file: path }, key: { file: path }, ...(impersonate && { impersonate }) },
  });
  // It also repairs what a kill has left, so it comes before the kubeconfig that may name these files.
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
      log.info({ kubeconfig, path }, 'the certificate of the kubeconfig is kept in the store from now on');
    } catch (error) {
      log.warn({ error: errorText(error) }, 'the certificate of the kubeconfig cannot be kept, and so is not renewed');
      return { identity: own, isManaged: false };
    }
  }
  return { identity: isOfStore ? own : ofStore(own), ...(bootstrap && { bootstrap }), isManaged: true };
};

/** The identity of the kubeconfig; undefined where it cannot be used and there is another way. */
const readUsable = ({ kubeconfig, bootstrapKubeconfig, now, log }: NodeIdentityOptions): ApiIdentity | undefined => {
  if (bootstrapKubeconfig === '') return readKubeconfig(kubeconfig);
  if (!existsSync(kubeconfig)) return undefined;
  try {
    const identity = readKubeconfig(kubeconfig);
    const problem = problemOf(identity.user, now());
    if (problem === undefined) return identity;
    log.warn({ kubeconfig, problem }, 'the kubeconfig cannot be used, a certificate is asked for anew');
  } catch (error) {
    log.warn(
      { kubeconfig, problem: errorText(error) },
      'the kubeconfig cannot be used, a certificate is asked for anew',
    );
  }
  return undefined;
};

/** The identity for when the certificate has ended; nobody needs it yet, so that it may be missing. */
const readUnneeded = ({ bootstrapKubeconfig, log }: NodeIdentityOptions): ApiIdentity | undefined => {
  if (bootstrapKubeconfig === '' || !existsSync(bootstrapKubeconfig)) return undefined;
  try {
    return readKubeconfig(bootstrapKubeconfig);
  } catch (error) {
    log.warn({ problem: errorText(error) }, 'the bootstrap kubeconfig cannot be used, and is not needed');
    return undefined;
  }
};

/** Why nobody can come as that user. */
const problemOf = ({ certificate, token, tokenFile, basic, exec }: ApiUser, now: number): string | undefined => {
  if (!certificate) return (token ?? tokenFile ?? basic ?? exec) ? undefined : 'there are no credentials in it';
  const chain = pemSource(certificate)().match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? [];
  const ended = chain.map((pem) => new X509Certificate(pem).validTo).find((validTo) => Date.parse(validTo) < now);
  return ended === undefined ? undefined : `its certificate has ended on ${ended}`;
};
