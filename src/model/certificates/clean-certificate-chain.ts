/**
 * Returns the PEM blocks of a text as certificates, one behind the other: without the text between them and without their headers.
 *
 * Source: pkg/kubelet/podcertificate/podcertificatemanager.go cleanCertificateChain
 */
export const cleanCertificateChain = (text: string): string =>
  bodiesOf(text)
    .map((body) => body.replace(HEADERS, '').replaceAll(/\s/g, ''))
    .filter((base64) => base64 !== '')
    .map((base64) =>
      ['-----BEGIN CERTIFICATE-----', ...(base64.match(/.{1,64}/g) ?? []), '-----END CERTIFICATE-----', ''].join('\n'),
    )
    .join('');

/**
 * The texts between the first and the last line of each block, whose labels are equal. A regular expression of both lines would look for
 * the end again from each beginning of a text without ends.
 */
const bodiesOf = (text: string): readonly string[] => {
  const ends = new Map<string, number[]>();
  for (const { 1: label = '', index } of [...text.matchAll(LAST_LINE)].reverse()) {
    const ofLabel = ends.get(label);
    if (ofLabel) ofLabel.push(index);
    else ends.set(label, [index]);
  }
  const bodies: string[] = [];
  let after = 0;
  for (const { 0: line, 1: label = '', index } of text.matchAll(FIRST_LINE)) {
    if (index < after) continue;
    const start = index + line.length;
    const ofLabel = ends.get(label) ?? [];
    while (ofLabel.length > 0 && ofLabel.at(-1)! < start) ofLabel.pop();
    const end = ofLabel.at(-1);
    if (end === undefined) continue;
    bodies.push(text.slice(start, end));
    after = end;
  }
  return bodies;
};

const FIRST_LINE = /^-----BEGIN ([A-Z0-9 ]+)-----[ \t]*\r?\n/gm;
const LAST_LINE = /^-----END ([A-Z0-9 ]+)-----/gm;
/** `Name: value` lines, and the empty line behind them. */
const HEADERS = /^(?:[^\n:]+:[^\n]*\n)+\r?\n/;
