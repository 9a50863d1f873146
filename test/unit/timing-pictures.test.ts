import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, it } from 'vitest';

const fileOf = (path: string) => new URL(`../../${path}`, import.meta.url);
/** Calls that compare what happened with a picture. */
const COMPARISONS = new Set(['expectLanes', 'expectObservable', 'expectSubscriptions']);

const page = readFileSync(fileOf('docs/timing.md'), 'utf8');
/** The rules of the page, each with its test. */
const rules = page
  .split('\n')
  .map((line) => /^\| (.*?) *\|.*\| `([^`]+)` "([^"]+)" *\|$/.exec(line))
  .flatMap((match) => (match ? [{ rule: match[1] ?? '', file: match[2] ?? '', name: match[3] ?? '' }] : []));
/** The exceptions of the page, each with its reason: the tests of a folder, and rules by name. */
const exceptions = page.split('\n').filter((line) => line.startsWith('- '));
const exemptFolders = exceptions.flatMap((line) => /^- a rule with a test in `([^`]+)`: \w/.exec(line)?.[1] ?? []);
const exemptRules = exceptions.flatMap((line) => /^- "([^"]+)": \w/.exec(line)?.[1] ?? []);

const isIn = (node: ts.Node, wanted: (node: ts.Node) => boolean): boolean =>
  wanted(node) || (ts.forEachChild(node, (child) => isIn(child, wanted) || undefined) ?? false);
/** The name that is called: `expectLanes(…)`, `stage.expectObservable(…)`. */
const callee = (node: ts.Node): string => {
  if (!ts.isCallExpression(node)) return '';
  const { expression } = node;
  if (ts.isPropertyAccessExpression(expression)) return expression.name.text;
  return ts.isIdentifier(expression) ? expression.text : '';
};

/** The names of calls that compare with a picture: the ones above, and functions of the file that make such a call. */
const comparisonsOf = (source: ts.SourceFile): ReadonlySet<string> => {
  const names = new Set(COMPARISONS);
  const visit = (node: ts.Node): void => {
    if (
      ts.isVariableDeclaration(node) &&
      ts.isIdentifier(node.name) &&
      node.initializer &&
      ts.isArrowFunction(node.initializer) &&
      isIn(node.initializer, (each) => names.has(callee(each)))
    ) {
      names.add(node.name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
};

/** The tests of a file by the texts in them: `it('…', …)`, and `it.each([…])('…', …)` with its table. */
const testsOf = (source: ts.SourceFile): readonly ts.CallExpression[] => {
  const found: ts.CallExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^it\b/.test(node.expression.getText(source))) found.push(node);
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
};

const hasPicture = ({ file, name }: { readonly file: string; readonly name: string }): boolean => {
  const source = ts.createSourceFile(file, readFileSync(fileOf(file), 'utf8'), ts.ScriptTarget.Latest, true);
  const comparisons = comparisonsOf(source);
  return testsOf(source).some(
    (test) =>
      isIn(test, (node) => ts.isStringLiteralLike(node) && node.text.includes(name)) &&
      isIn(test, (node) => comparisons.has(callee(node))),
  );
};

const inFolder = (folder: string) => rules.filter(({ file }) => file.startsWith(`${folder}/`));

it('are found', () => {
  expect(inFolder('test/marbles').length).toBeGreaterThan(100);
});

it.each(inFolder('test/marbles'))(
  '$rule: its test draws a picture, or the page gives the reason why it does not',
  ({ rule, ...test }) => {
    expect(hasPicture(test)).toBe(!exemptRules.includes(rule));
  },
);

it('outside of the marble tests are in folders for which the page gives a reason', () => {
  const known = ['test/marbles', ...exemptFolders];
  expect(rules.filter(({ file }) => !known.some((folder) => file.startsWith(`${folder}/`)))).toEqual([]);
});

it('have no exception without a rule', () => {
  expect(exceptions).toHaveLength(exemptFolders.length + exemptRules.length);
  expect(exemptFolders.filter((folder) => inFolder(folder).length === 0)).toEqual([]);
  expect(exemptRules.filter((name) => rules.every(({ rule }) => rule !== name))).toEqual([]);
});

/** Calls in which time passes, or that read it; `playHistory` plays random steps of workers with times between them. */
const TIMES = new Set(['at', 'delay', 'interval', 'now', 'playHistory', 'schedule', 'timer']);

it('and every other test in virtual time draw a picture, or let time pass: others belong in test/streams', () => {
  const timeless = readdirSync(fileOf('test/marbles/'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .filter((name) => {
      const text = readFileSync(fileOf(`test/marbles/${name}`), 'utf8');
      const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
      return !isIn(source, (node) => COMPARISONS.has(callee(node)) || TIMES.has(callee(node)));
    });
  expect(timeless).toEqual([]);
});
