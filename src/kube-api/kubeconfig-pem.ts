import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isShortage } from '../model/values/file-error.js';
import type { FieldPath } from '../model/manifest/field-issue.js';
import type { Pem } from './api-identity.js';

/** Receives a problem of a field of a kubeconfig. */
export type Problem = (field: FieldPath, message: string) => void;

/** The place of a field, and the folder of relative paths. */
export interface PemPlace {
  readonly at: FieldPath;
  readonly folder: string;
  readonly problem: Problem;
}

type Holder<Field extends string> = { readonly [Key in Field | `${Field}-data`]?: string | null | undefined };

interface Found {
  readonly pem: Pem;
  /** The path of the field. */
  readonly path: FieldPath;
  /** The prefix of messages. */
  readonly source: string;
  readonly content: string | undefined;
}

/** Returns the certificates of the server's authority; undefined if the field is absent. */
export const readAuthority = (cluster: Holder<'certificate-authority'>, place: PemPlace): Pem | undefined => {
  const found = find(cluster, 'certificate-authority', place);
  if (found) parseCertificates(found, place.problem);
  return found?.pem;
};

/** Returns the client certificate with its key; undefined if one of them is absent. */
export const readPair = (
  user: Holder<'client-certificate' | 'client-key'>,
  place: PemPlace,
): { readonly certificate: Pem; readonly key: Pem } | undefined => {
  const { at, problem } = place;
  const [certificate, key] = [find(user, 'client-certificate', place), find(user, 'client-key', place)];
  if (certificate && !key) problem([...at, 'client-key'], 'expected the key of the client certificate');
  if (key && !certificate) problem([...at, 'client-certificate'], 'expected the certificate of the client key');
  const [leaf] = certificate ? parseCertificates(certificate, problem) : [];
  const parsedKey = key && parseKey(key, problem);
  if (!certificate || !key) return undefined;
  if (leaf && parsedKey && !leaf.checkPrivateKey(parsedKey)) {
    problem(key.path, `${key.source}expected the key of the client certificate, found another one`);
  }
  return { certificate: certificate.pem, key: key.pem };
};

/** Returns the content of a file; undefined, with a problem, if it cannot be read. Errors: the machine lacks a resource to read it. */
export const readable = (path: string, field: FieldPath, problem: Problem): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isShortage(error)) throw error;
    return void problem(field, (error as Error).message);
  }
};

/** Reads a field: `<field>-data` takes precedence over `<field>`, which names a file. */
const find = <Field extends string>(
  holder: Holder<Field>,
  field: Field,
  { at, folder, problem }: PemPlace,
): Found | undefined => {
  const data = holder[`${field}-data`];
  if (data) {
    const content = Buffer.from(data, 'base64').toString('utf8');
    return { pem: { pem: content }, path: [...at, `${field}-data`], source: '', content };
  }
  const file = holder[field];
  if (!file) return undefined;
  const path = resolve(folder, file);
  const content = readable(path, [...at, field], problem);
  return { pem: { file: path }, path: [...at, field], source: `${path}: `, content };
};

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

const parseCertificates = ({ content, path, source }: Found, problem: Problem): readonly X509Certificate[] => {
  if (content === undefined) return [];
  const blocks = content.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) problem(path, `${source}expected PEM with a certificate`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    problem(path, `${source}expected PEM with a certificate: ${(error as Error).message}`);
    return [];
  }
};

const parseKey = ({ content, path, source }: Found, problem: Problem): KeyObject | undefined => {
  if (content === undefined) return undefined;
  try {
    return createPrivateKey(content);
  } catch (error) {
    // The message of Node.js contains nothing of the key.
    return void problem(path, `${source}expected PEM with a private key: ${(error as Error).message}`);
  }
};
