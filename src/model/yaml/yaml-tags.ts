import { YamlError } from './yaml-error.js';
import type { YamlToken } from './yaml-token.js';

export const STANDARD_TAG = 'tag:yaml.org,2002:';

export type TagHandles = ReadonlyMap<string, string>;

/** The directives before a document. Errors: a directive that is not of version 1.1. */
export const tagHandles = (directives: readonly YamlToken[]): TagHandles => {
  const handles = new Map([
    ['!', '!'],
    ['!!', STANDARD_TAG],
  ]);
  for (const { text, offset } of directives) {
    const [name, first = '', second = ''] = text
      .replace(/\s#.*$/, '')
      .trim()
      .split(/[ \t]+/);
    if (name === '%YAML') {
      if (first === '1.1') continue;
      throw new YamlError(`YAML is read as version 1.1, not as ${first || 'none'}`, offset);
    }
    if (name !== '%TAG' || second === '') throw new YamlError(`the directive ${name} is not known`, offset);
    handles.set(first, second);
  }
  return handles;
};

/** Returns the whole name of a tag; empty for the non-specific tag. */
export const resolveTag = (tag: string, handles: TagHandles, offset: number): string => {
  if (tag.startsWith('!<')) return tag.slice(2, -1);
  if (tag === '!') return tag;
  const [, handle = '!', suffix = ''] = /^(![0-9A-Za-z_-]*!)?(.*)$/.exec(tag)!;
  const prefix = handles.get(handle);
  if (prefix === undefined)
    throw new YamlError(`the tag ${tag} has an undeclared handle`, offset, 'a tag has an undeclared handle');
  return prefix + (handle === '!' ? suffix.slice(1) : suffix);
};
