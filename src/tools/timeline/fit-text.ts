/** Characters that a terminal draws two columns wide. Source: Unicode Standard Annex 11. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const COMBINING = /\p{M}/u;

const widthOf = (character: string): number => (COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1);

/** The columns of a text on a terminal. */
export const textWidth = (text: string): number => [...text].reduce((sum, character) => sum + widthOf(character), 0);

/** Returns one line without control characters and without characters that change the direction of text. */
export const printableLine = (text: string): string =>
  text
    .trim()
    .replace(/\s*[\r\n]+\s*/g, ' ⏎ ')
    .replace(/\t/g, ' ')
    .replace(/\p{C}/gu, '\ufffd');

/** Cuts the text to a number of columns, with `…` at the cut. */
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

/** Fits the text to an exact number of columns. */
export const padText = (text: string, columns: number): string => {
  const fitting = fitText(text, columns);
  return fitting + ' '.repeat(Math.max(0, columns - textWidth(fitting)));
};
