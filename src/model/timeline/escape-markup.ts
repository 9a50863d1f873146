const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as it stands in HTML or XML, between tags or in quotes. What XML cannot hold at all is replaced. */
export const escapeMarkup = (text: string): string =>
  wellFormed(text)
    .replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => ESCAPES[character]!);

/** A value as JSON that may stand in a `script` element of data, whatever its texts are. */
export const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The link to an id on the same page, before it is escaped. */
export const anchorOf = (id: string): string => `#${encodeURIComponent(wellFormed(id))}`;

const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '\ufffd');
