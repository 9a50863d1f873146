import type { CertificateSubject } from './client-certificate.js';

/** A value of ASN.1 in its distinguished encoding. */
export type Der = Uint8Array;

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OBJECT_IDENTIFIER = 0x06;
const UTF8_STRING = 0x0c;
const PRINTABLE_STRING = 0x13;
/** `[0]` of what has parts. */
const CONTEXT_0 = 0xa0;

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';

export const sequence = (...parts: readonly Der[]): Der => tagged(SEQUENCE, ...parts);

export const bitString = (bytes: Uint8Array): Der => tagged(BIT_STRING, Uint8Array.of(0), bytes);

/** Of its numbers with dots between them. */
export const oid = (dotted: string): Der => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(OBJECT_IDENTIFIER, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
};

/**
 * What is signed of a request for a certificate: version, subject, public key (SubjectPublicKeyInfo) and no attributes. Every part of
 * the subject is an RDN of its own, organizations first, as Go writes them.
 *
 * Source: RFC 2986
 */
export const certificationRequestInfo = (
  { commonName, organizations }: CertificateSubject,
  publicKey: Uint8Array,
): Der =>
  sequence(
    tagged(INTEGER, Uint8Array.of(0)),
    sequence(...organizations.map((name) => attribute(ORGANIZATION, name)), attribute(COMMON_NAME, commonName)),
    publicKey,
    tagged(CONTEXT_0),
  );

const attribute = (type: string, value: string): Der => tagged(SET, sequence(oid(type), text(value)));

const text = (value: string): Der =>
  tagged(/^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value) ? PRINTABLE_STRING : UTF8_STRING, new TextEncoder().encode(value));

const tagged = (tag: number, ...parts: readonly Uint8Array[]): Der => {
  const content = joined(parts);
  return joined([Uint8Array.of(tag, ...lengthOf(content.length)), content]);
};

const joined = (parts: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

/** Up to 127 as it is, else after the number of its bytes. */
const lengthOf = (length: number): readonly number[] => {
  if (length < 0x80) return [length];
  const bytes = digits(length, 256);
  return [0x80 | bytes.length, ...bytes];
};

/** Seven bits in each byte, and the eighth in all but the last. */
const base128 = (value: number): readonly number[] =>
  digits(value, 128).map((digit, index, all) => (index < all.length - 1 ? digit | 0x80 : digit));

const digits = (value: number, base: number): readonly number[] =>
  value < base ? [value] : [...digits(Math.floor(value / base), base), value % base];
