const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

/**
 * Returns the page that lists a folder. Names of folders end with a slash.
 *
 * Source: net/http dirList of Go
 */
export const directoryPage = (names: readonly string[]): string =>
  [
    '<!doctype html>',
    '<meta name="viewport" content="width=device-width">',
    '<pre>',
    ...names.toSorted().map((name) => `<a href="${escaped(linkTo(name))}">${escaped(name)}</a>`),
    '</pre>',
    '',
  ].join('\n');

const linkTo = (name: string): string => name.split('/').map(encodeURIComponent).join('/');
