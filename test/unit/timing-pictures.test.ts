import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, it } from 'vitest';

/**
 * The rules of docs/timing.md whose test in `test/marbles` draws no picture, by the name of the rule, each with the reason.
 * A rule that gets a picture, and one that leaves the page, has to leave this list.
 */
const WITHOUT_PICTURE: Readonly<Record<string, string>> = {
  'the server ends a watch': 'the agent only draws the time and sends it: the text of the request is the rule',
};

const fileOf = (path: string) => new URL(`../../${path}`, import.meta.url);
/** Calls that compare what happened with a picture. */
const COMPARISONS = new Set(['expectLanes', 'expectObservable', 'expectSubscriptions']);

/** The rules of the page that name a test in virtual time. */
const rules = readFileSync(fileOf('docs/timing.md'), 'utf8')
  .split('\n')
  .map((line) => /^\| (.*?) *\|.*\| `(test\/marbles\/[^`]+)` "([^"]+)" *\|$/.exec(line))
  .flatMap((match) => (match ? [{ rule: match[1] ?? '', file: match[2] ?? '', name: match[3] ?? '' }] : []));

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

it('are found', () => {
  expect(rules.length).toBeGreaterThan(100);
});

it.each(rules)('$rule: its test draws a picture, or the list says why it does not', ({ rule, ...test }) => {
  expect(hasPicture(test)).toBe(!Object.hasOwn(WITHOUT_PICTURE, rule));
});

it('the list of exceptions names rules of the page only', () => {
  const known = new Set(rules.map(({ rule }) => rule));
  expect(Object.keys(WITHOUT_PICTURE).filter((rule) => !known.has(rule))).toEqual([]);
});
