import { expect, it } from 'vitest';
import { cleanCertificateChain } from '../../../src/model/certificates/clean-certificate-chain.js';

const block = (...lines: readonly string[]) =>
  ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');

it.each([
  ['nothing', '', ''],
  ['text without a block', 'hello\n', ''],
  ['one block', block('QUJD'), block('QUJD')],
  ['two blocks', block('QUJD') + block('REVG'), block('QUJD') + block('REVG')],
  ['text before, between and behind', `a\n${block('QUJD')}b\n${block('REVG')}c`, block('QUJD') + block('REVG')],
  ['headers', block('Name: value', 'Other: x', '', 'QUJD'), block('QUJD')],
  ['another label', block('QUJD').replaceAll('CERTIFICATE', 'X509 CERTIFICATE'), block('QUJD')],
  ['carriage returns', block('QUJD').replaceAll('\n', '\r\n'), block('QUJD')],
  ['long lines', block('A'.repeat(65)), block('A'.repeat(64), 'A')],
  ['an end of another label', block('QUJD').replace('END CERTIFICATE', 'END KEY'), ''],
])('of %s only the certificates stay', (_, text, expected) => expect(cleanCertificateChain(text)).toBe(expected));

it('of text with beginnings alone, none of which looks for an end through the rest of the text', () => {
  const beginnings = Array.from({ length: 400_000 }, (_, at) => `-----BEGIN ${at % 2 === 0 ? 'A' : at}-----\n`).join(
    '',
  );
  expect(cleanCertificateChain(`${beginnings}${block('QUJD')}`)).toBe(block('QUJD'));
});
