const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for HTML or XML, between tags or in quotes. Characters that XML does not allow are replaced. */
export const escapeMarkup = (text: string): string =>
  wellFormed(text)
    .replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => ESCAPES[character]!);

/** Formats a value as JSON for a `script` element of data, safe for any text. */
export const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The link to an id on the same page, unescaped. */
export const anchorOf = (id: string): string => `#${encodeURIComponent(wellFormed(id))}`;

const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '\ufffd');
