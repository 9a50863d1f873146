/** Returns the beginning of a text for an explanation; undefined for an empty text. */
export const firstLine = (text: string): string => text.trim().split('\n', 1).join('');
