const BEGIN = /^-----BEGIN (.*)-----$/;
const END = /^-----END (.*)-----$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Returns the contents of the blocks of a PEM text in order, as base64. Texts between blocks, headers, and blocks that are not as
 * they should be are left out; blocks of every type count.
 *
 * Source: encoding/pem of Go, Decode
 */
export const pemBlocks = (text: string): readonly string[] => {
  const blocks: string[] = [];
  let open: OpenBlock | undefined;
  for (const untrimmed of text.split('\n')) {
    const line = untrimmed.trimEnd();
    const [, begun] = BEGIN.exec(line) ?? [];
    const [, ended] = END.exec(line) ?? [];
    if (begun !== undefined) open = { type: begun, hasBody: false, body: [] };
    else if (!open) continue;
    else if (line.startsWith('-----END')) {
      const body = open.body.join('');
      // The same bytes can be written as more than one base64.
      if (ended === open.type && BASE64.test(body)) blocks.push(Buffer.from(body, 'base64').toString('base64'));
      open = undefined;
    } else if (open.hasBody || !line.includes(':')) {
      open.hasBody = true;
      open.body.push(line.replace(/[ \t\r]/g, ''));
    }
  }
  return blocks;
};

interface OpenBlock {
  readonly type: string;
  /** Headers end with the first line without a colon. */
  hasBody: boolean;
  readonly body: string[];
}

const LINE_LENGTH = 64;

/** Returns a PEM text of certificates, each given as base64. */
export const pemOfCertificates = (certificates: readonly string[]): string =>
  certificates
    .map((base64) => {
      const lines = base64.match(new RegExp(`.{1,${LINE_LENGTH}}`, 'g')) ?? [];
      return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
    })
    .join('');
