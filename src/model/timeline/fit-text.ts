/** Characters that a terminal draws two columns wide. Source: Unicode Standard Annex 11. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const COMBINING = /\p{M}/u;

const widthOf = (character: string): number => (COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1);

/** Columns that a text takes on a terminal. */
export const textWidth = (text: string): number => [...text].reduce((sum, character) => sum + widthOf(character), 0);

/** One line that cannot control a terminal, neither by control characters nor by what changes the direction of text. */
export const printableLine = (text: string): string =>
  text
    .trim()
    .replace(/\s*[\r\n]+\s*/g, ' ⏎ ')
    .replace(/\t/g, ' ')
    .replace(/\p{C}/gu, '\ufffd');

/** The text in at most so many columns, with `…` where it was cut. */
export const fitText = (text: string, columns: number): string => {
  if (textWidth(text) <= columns) return text;
  let left = columns - 1;
  let fitting = '';
  for (const character of text) {
    left -= widthOf(character);
    if (left < 0) break;
    fitting += character;
  }
  return columns <= 0 ? '' : `${fitting}…`;
};

/** The text in exactly so many columns. */
export const padText = (text: string, columns: number): string => {
  const fitting = fitText(text, columns);
  return fitting + ' '.repeat(Math.max(0, columns - textWidth(fitting)));
};
