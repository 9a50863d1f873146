/** Words with which no sentence begins: a relative clause without its noun, a clause in front, or a part without its whole. */
const HEADLESS = /^(?:What|That|Those|Of|Which|Who|Whose)\s/;
/** A docstring has no sentence before it to which such a word could refer. */
const UNNAMED = /^(?:It|They)\s/;

/** The sentences of a text, without what is in backticks. */
const sentencesOf = (text: string): readonly string[] =>
  text
    .replace(/`[^`]*`/g, 'Code')
    .replace(/\s+/g, ' ')
    .trim()
    .split(/(?<=[.!?]) (?=[A-Z])/);

/** `FILE:LINE: SENTENCE` for each sentence of a comment that begins without its noun. */
export const headlessInCode = (file: string, code: string): readonly string[] =>
  [...code.matchAll(/\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*|(?<=[;,{(\])] )\/\/ .*/gm)].flatMap(
    ({ 0: comment, index }) => {
      const text = comment.replace(/^[ \t]*\/\/ ?/gm, ' ').replace(/^\/\*+|\*\/$|^[ \t]*\*/gm, ' ');
      const line = code.slice(0, index).split('\n').length;
      return sentencesOf(text).flatMap((sentence, place) =>
        HEADLESS.test(sentence) || (place === 0 && comment.startsWith('/**') && UNNAMED.test(sentence))
          ? [`${file}:${line}: ${sentence}`]
          : [],
      );
    },
  );

/** The same for the paragraphs and lists of a page: no headings, tables and code. A question may begin with such a word. */
export const headlessInPage = (file: string, page: string): readonly string[] =>
  page
    .replace(/^( *)```[\s\S]*?^\1```/gm, '')
    .split(/\n(?=\s*(?:\n|[-*|#>]|\d+\. ))/)
    .map((part) => part.trim())
    .filter((part) => !/^[|#]/.test(part))
    .flatMap((part) => sentencesOf(part.replace(/^(?:[-*>]|\d+\.) /, '')))
    .filter((sentence) => HEADLESS.test(sentence) && !sentence.endsWith('?'))
    .map((sentence) => `${file}: ${sentence}`);
