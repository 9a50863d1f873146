import { describe, expect, it } from 'vitest';
import { pemBlocks, pemOfCertificates } from '../../../src/model/references/pem-blocks.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const block = (body: string, type = 'CERTIFICATE'): string =>
  `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
const [A, B] = [base64('first'), base64('other')];

describe('the blocks of a PEM text', () => {
  it.each([
    ['one', block(A), [A]],
    ['several, of every type', `${block(A)}${block(B, 'RSA PUBLIC KEY')}${block(A)}`, [A, B, A]],
    ['with a text around them', `see below\n${block(A)}and\n\n${block(B)}the end`, [A, B]],
    ['with headers', block(`Proc-Type: 4\nDEK-Info: x\n\n${A}`), [A]],
    ['with blanks, tabs and the line ends of Windows', block(` ${A.slice(0, 3)}\t\r\n${A.slice(3)} \r`), [A]],
    ['over several lines', block(`${A.slice(0, 4)}\n${A.slice(4)}`), [A]],
    ['without a newline at the end', block(A).trimEnd(), [A]],
    ['without a body', '-----BEGIN X-----\n-----END X-----\n', ['']],
    ['with base64 that has other bits at its end', block('Zh=='), ['Zg==']],
  ])('are found: %s', (_, text, expected) => expect(pemBlocks(text)).toEqual(expected));

  it.each([
    ['no base64', block('!!!')],
    ['base64 of a wrong length', block(A.slice(0, -1))],
    ['base64 of URLs', block('_-__')],
    ['a colon after the first line of the body', block(`${A}\nKey: value`)],
    ['another type at the end', `-----BEGIN A-----\n${A}\n-----END B-----\n`],
    ['an end that is no whole line', `-----BEGIN A-----\n${A}\n-----END A----- x\n`],
    ['no end', `-----BEGIN A-----\n${A}\n`],
    ['no beginning', `${A}\n-----END A-----\n`],
    ['a beginning that is not at the start of a line', ` ${block(A)}`],
    ['a beginning that is no whole line', `-----BEGIN A\n${A}\n-----END A-----\n`],
  ])('are left out, and the next one is found, with %s', (_, text) => {
    expect(pemBlocks(text)).toEqual([]);
    expect(pemBlocks(`${text}${block(B)}`)).toEqual([B]);
  });

  it('begin again where one begins inside another', () => {
    expect(pemBlocks(`-----BEGIN A-----\n${A}\n${block(B, 'A')}`)).toEqual([B]);
  });
});

it('certificates are written in lines of 64 characters', () => {
  const long = base64('x'.repeat(60));
  expect(pemOfCertificates([long, A])).toBe(`${block(`${long.slice(0, 64)}\n${long.slice(64)}`)}${block(A)}`);
  expect(pemOfCertificates([])).toBe('');
  expect(pemBlocks(pemOfCertificates([long, '', A]))).toEqual([long, '', A]);
});
