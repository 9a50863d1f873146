const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/**
 * Returns the certificates of a PEM text, each from its first to its last line, unread. A regular expression would look for the end
 * again from each beginning of a text without ends.
 */
export const certificateBlocks = (text: string): readonly string[] => {
  const blocks: string[] = [];
  for (let from = text.indexOf(BEGIN); from !== -1; from = text.indexOf(BEGIN, from)) {
    const end = text.indexOf(END, from + BEGIN.length);
    if (end === -1) break;
    blocks.push(text.slice(from, end + END.length));
    from = end + END.length;
  }
  return blocks;
};
