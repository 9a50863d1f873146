import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

/** Signs certificates for one test; everything it makes is in the folder. */
export interface Signer {
  readonly ca: string;
  /** For a server at the loopback that calls itself `names`. */
  readonly server: (...names: string[]) => Certificate;
  readonly client: (commonName: string) => Certificate;
}

export const signer = (folder: string, name = 'ca'): Signer => {
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl(
    ...['req', '-x509', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.crt`, '-days', '2'],
    ...['-subj', `/CN=${name}`, '-addext', 'keyUsage=critical,keyCertSign'],
  );
  let count = 0;
  const sign = (subject: string, extensions: string): Certificate => {
    count += 1;
    const leaf = `${name}-${count}`;
    writeFileSync(join(folder, `${leaf}.ext`), extensions);
    openssl('req', '-new', ...newKey, '-keyout', `${leaf}.key`, '-out', `${leaf}.csr`, '-subj', subject);
    openssl(
      ...['x509', '-req', '-in', `${leaf}.csr`, '-CA', `${name}.crt`, '-CAkey', `${name}.key`],
      ...['-set_serial', String(count), '-days', '1', '-extfile', `${leaf}.ext`, '-out', `${leaf}.crt`],
    );
    return { cert: read(`${leaf}.crt`), key: read(`${leaf}.key`) };
  };
  return {
    ca: read(`${name}.crt`),
    server: (...names) =>
      sign('/CN=server', `subjectAltName=${['IP:127.0.0.1', ...names.map((dns) => `DNS:${dns}`)].join(',')}`),
    client: (commonName) => sign(`/O=system:nodes/CN=${commonName}`, 'extendedKeyUsage=clientAuth'),
  };
};
