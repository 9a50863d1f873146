/**
 * Returns the problem of a regular expression, or undefined. Expressions of journalctl are PCRE2, which has groups and flags of its
 * own; only the shape is checked here, so that a pattern with an open bracket is refused before a program is started.
 */
export const patternProblem = (pattern: string): string | undefined => {
  if (pattern.includes('\0')) return 'error parsing regexp: invalid character';
  const plain = pattern
    .replace(/\\Q.*?(\\E|$)/gs, 'x')
    .replace(/\(\?P</g, '(?<')
    .replace(/\(\?[a-zA-Z]*(-[a-zA-Z]+)?(:|\))/g, (_, __, end: string) => (end === ':' ? '(?:' : ''));
  try {
    new RegExp(plain);
    return undefined;
  } catch (error) {
    return `error parsing regexp: ${(error as Error).message.replace(/^.*\/: /s, '')}`;
  }
};
