/**
 * Returns the PEM blocks of a text as certificates, one behind the other: without the text between them and without their headers.
 *
 * Source: pkg/kubelet/podcertificate/podcertificatemanager.go cleanCertificateChain
 */
export const cleanCertificateChain = (text: string): string =>
  [...text.matchAll(BLOCK)]
    .map(({ groups: { body = '' } = {} }) => body.replace(HEADERS, '').replaceAll(/\s/g, ''))
    .filter((base64) => base64 !== '')
    .map((base64) =>
      ['-----BEGIN CERTIFICATE-----', ...(base64.match(/.{1,64}/g) ?? []), '-----END CERTIFICATE-----', ''].join('\n'),
    )
    .join('');

const BLOCK = /^-----BEGIN (?<label>[A-Z0-9 ]+)-----[ \t]*\r?\n(?<body>[^]*?)^-----END \k<label>-----/gm;
/** `Name: value` lines, and the empty line behind them. */
const HEADERS = /^(?:[^\n:]+:[^\n]*\n)+\r?\n/;
