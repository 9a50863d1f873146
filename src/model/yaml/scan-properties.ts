import { isBlankOrEnd } from './yaml-characters.js';
import type { YamlCursor } from './yaml-cursor.js';
import { YamlError } from './yaml-error.js';

const NAME = /[0-9A-Za-z_-]*/y;
const BEHIND_NAME = new Set('?:,]}%@`');
const TAG = /!(?:<[^>\s]*>|[0-9A-Za-z_\-;/?:@&=+$,.!~*'()[\]%]*)/y;

/** Reads `&name` or `*name`; returns the name. */
export const scanAnchor = (cursor: YamlCursor): string => {
  const { offset } = cursor;
  cursor.skip();
  const name = match(NAME, cursor);
  const next = cursor.peek();
  if (name === '' || !(isBlankOrEnd(next) || BEHIND_NAME.has(String.fromCharCode(next)))) {
    throw new YamlError('the name of an anchor or alias consists of letters, digits, "-" and "_"', offset);
  }
  return name;
};

/** Reads a tag, unresolved. */
export const scanTag = (cursor: YamlCursor): string => {
  const { offset } = cursor;
  const tag = match(TAG, cursor);
  if (!isBlankOrEnd(cursor.peek()) || tag === '!<>')
    throw new YamlError('a tag that does not end with a blank', offset);
  return tag;
};

const match = (pattern: RegExp, cursor: YamlCursor): string => {
  pattern.lastIndex = cursor.offset;
  const text = pattern.exec(cursor.text)?.[0].slice(0, cursor.end - cursor.offset) ?? '';
  cursor.skip(text.length);
  return text;
};
