import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAbsence } from '../../model/values/file-error.js';
import { replaceFile } from '../../processes/replace-file.js';

/** Paths of a certificate and its key, PEM. */
export interface PairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface SelfSignedOptions {
  readonly directory: string;
  /** The only name in the certificate. */
  readonly host: string;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Returns the files of a serving certificate in the folder, which are made if one of them is missing. Files of an earlier
 * agent are used, also after their expiry: a client that trusts the certificate trusts this one.
 *
 * Errors: the files cannot be read or written.
 * Source: cmd/kubelet/app/server.go InitializeTLS, staging/src/k8s.io/client-go/util/cert/cert.go
 *         GenerateSelfSignedCertKey
 */
export const selfSignedPair = async ({ directory, host, now }: SelfSignedOptions): Promise<PairFiles> => {
  const files: PairFiles = { certFile: join(directory, 'kubelet.crt'), keyFile: join(directory, 'kubelet.key') };
  if ((await isThere(files.certFile)) && (await isThere(files.keyFile))) return files;
  // Loaded on demand: most agents have their files already.
  const { generatePair } = await import('./generate-pair.js');
  const { certificates, key } = await generatePair(host, now());
  // The key comes first: a certificate without its key is not used, and the next start replaces both.
  await replaceFile(files.keyFile, key, { mode: 0o600, directoryMode: 0o755 });
  await replaceFile(files.certFile, certificates, { mode: 0o644, directoryMode: 0o755 });
  return files;
};

const isThere = async (path: string): Promise<boolean> => {
  try {
    await readFile(path);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
};
