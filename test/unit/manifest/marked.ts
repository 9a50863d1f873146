/** Stands in a text for the place at which a problem is expected. */
export const MARK = '▸';

/** The text without its mark, and where that was, counted from 1. */
export const unmark = (marked: string): { readonly text: string; readonly line: number; readonly column: number } => {
  const before = marked.split(MARK)[0]!;
  const lines = before.split('\n');
  return { text: marked.replace(MARK, ''), line: lines.length, column: lines.at(-1)!.length + 1 };
};

const indent = (text: string, by: number): string =>
  text
    .split('\n')
    .map((line) => `${' '.repeat(by)}${line}`)
    .join('\n');

const HEAD = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n';

/** A good pod with more in its metadata, in its spec, in its container, or in an init container. */
export const withMetadata = (fields: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n${indent(fields, 2)}\nspec:\n  containers: [{name: c, image: i}]\n`;
export const withSpec = (fields: string): string =>
  `${HEAD}  containers: [{name: c, image: i}]\n${indent(fields, 2)}\n`;
export const withContainer = (fields: string): string =>
  `${HEAD}  containers:\n  - name: c\n    image: i\n${indent(fields, 4)}\n`;
export const withInit = (fields: string): string =>
  `${HEAD}  initContainers:\n  - name: x\n    image: i\n${indent(fields, 4)}\n  containers: [{name: c, image: i}]\n`;
/** A container with more in it, in a spec with more in it. */
export const withBoth = (container: string, spec: string): string => `${withContainer(container)}${indent(spec, 2)}\n`;
