import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const openssl = (folder: string, ...args: readonly string[]): string =>
  execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

export interface Life {
  /** Seconds before now at which it began. */
  readonly since: number;
  /** Seconds after now at which it ends; below zero: it has ended. */
  readonly until: number;
}

const HOUR: Life = { since: 3_600, until: 3_600 };

/** OpenSSL as the certificate authority of a cluster, with its files in a folder of the test. */
export class Authority {
  readonly ca: string;

  constructor(private readonly folder: string) {
    openssl(
      folder,
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.crt'],
    );
    this.ca = readFileSync(join(folder, 'ca.crt'), 'utf8');
    writeFileSync(join(folder, 'index.txt'), '');
    writeFileSync(
      join(folder, 'ca.cnf'),
      [
        '[ca]\ndefault_ca = test',
        `[test]\ndatabase = index.txt\nnew_certs_dir = .\nrand_serial = yes\ndefault_md = sha256\npolicy = any\nunique_subject = no`,
        '[any]\norganizationName = optional\ncommonName = supplied',
        '[client]\nextendedKeyUsage = clientAuth',
        '[server]\nextendedKeyUsage = serverAuth\nsubjectAltName = IP:127.0.0.1\n',
      ].join('\n'),
    );
  }

  /** The certificate of a request, PEM. */
  sign(requestPem: string, { since, until }: Life = HOUR, usage: 'client' | 'server' = 'client'): string {
    writeFileSync(join(this.folder, 'request.pem'), requestPem);
    const at = (seconds: number): string =>
      new Date(Date.now() + seconds * 1_000).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
    openssl(
      this.folder,
      ...['ca', '-batch', '-notext', '-config', 'ca.cnf', '-cert', 'ca.crt', '-keyfile', 'ca.key', '-preserveDN'],
      ...['-extensions', usage, '-startdate', at(-since), '-enddate', at(until)],
      ...['-in', 'request.pem', '-out', 'signed.pem'],
    );
    return readFileSync(join(this.folder, 'signed.pem'), 'utf8');
  }

  /** A key and a certificate of it: PEM. */
  pair(subject: string, life?: Life, usage?: 'client' | 'server'): { readonly cert: string; readonly key: string } {
    openssl(this.folder, 'genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', 'pair.key');
    openssl(this.folder, 'req', '-new', '-key', 'pair.key', '-subj', subject, '-out', 'pair.csr');
    const cert = this.sign(readFileSync(join(this.folder, 'pair.csr'), 'utf8'), life, usage);
    return { cert, key: readFileSync(join(this.folder, 'pair.key'), 'utf8') };
  }
}

/** What OpenSSL says of a request, after it has verified its signature. */
export const verifiedRequest = (folder: string, pem: string): string => {
  writeFileSync(join(folder, 'to-verify.pem'), pem);
  return openssl(folder, 'req', '-in', 'to-verify.pem', '-verify', '-noout', '-text', '-nameopt', 'RFC2253');
};
