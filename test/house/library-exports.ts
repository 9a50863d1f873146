import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

export interface LibraryExport {
  readonly name: string;
  readonly kind: 'value' | 'class' | 'type';
  /** A value, but no class, of which only the type is exported. */
  readonly isTypeOfValue: boolean;
}

const ROOT = join(import.meta.dirname, '../..');

/** What a file exports, itself and from other files of `src`. */
export const exportsOf = (file: string): readonly LibraryExport[] =>
  ts
    .createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true)
    .statements.flatMap((node) => (ts.isExportDeclaration(node) ? passedOn(file, node) : declared(node)));

/** The exports of `export const a = 1;`. */
const declared = (node: ts.Statement): readonly LibraryExport[] => {
  const modifiers = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(node))
    return node.declarationList.declarations.map((each) => exported(each.name.getText(), 'value'));
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return [exported(node.name.text, 'type')];
  if (ts.isClassDeclaration(node) && node.name) return [exported(node.name.text, 'class')];
  if (ts.isFunctionDeclaration(node) && node.name) return [exported(node.name.text, 'value')];
  throw new Error(`an export of an unknown kind: ${node.getText()}`);
};

/** The exports of `export { a, type B } from './c.js';` and its like. */
const passedOn = (file: string, node: ts.ExportDeclaration): readonly LibraryExport[] => {
  const { exportClause: clause, moduleSpecifier: from } = node;
  if (clause && ts.isNamespaceExport(clause)) return [exported(clause.name.text, node.isTypeOnly ? 'type' : 'value')];
  const all =
    from && ts.isStringLiteral(from) && from.text.startsWith('.')
      ? exportsOf(join(dirname(file), from.text.replace(/\.js$/, '.ts')))
      : [];
  if (!clause) return all.map((one) => asType(one, node.isTypeOnly));
  return clause.elements.map((element) => {
    const inner = (element.propertyName ?? element.name).text;
    const isOnlyType = node.isTypeOnly || element.isTypeOnly;
    const found = all.find(({ name }) => name === inner) ?? exported(inner, isOnlyType ? 'type' : 'value');
    return { ...asType(found, isOnlyType), name: element.name.text };
  });
};

const exported = (name: string, kind: LibraryExport['kind']): LibraryExport => ({ name, kind, isTypeOfValue: false });

const asType = (one: LibraryExport, isOnlyType: boolean): LibraryExport =>
  isOnlyType ? { ...one, kind: 'type', isTypeOfValue: one.kind === 'value' } : one;
