/** As much of a text as an explanation has room for, unless it is empty. */
export const firstLine = (text: string): string => text.trim().split('\n', 1).join('');
