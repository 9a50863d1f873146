import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** The declaration of a name; `file` is relative to the root. */
export interface Place {
  readonly file: string;
  readonly name: string;
}

export interface Reached {
  /** `FILE#NAME` of each type in the signature of an exported name, at any depth, with the names through which it is reached. */
  readonly types: ReadonlyMap<string, string>;
  /** `FILE#NAME: CODE` of what has no type in its text, so that the search could not go on. */
  readonly inferred: readonly string[];
}

interface Module {
  readonly declared: ReadonlyMap<string, readonly ts.Node[]>;
  /** Imported names and names that are passed on from another file. */
  readonly imported: ReadonlyMap<string, Place>;
  readonly exported: ReadonlySet<string>;
  /** Files that are passed on as a whole. */
  readonly passedOn: readonly string[];
}

const ROOT = join(import.meta.dirname, '../..');
const GENERATED = 'src/generated/';
const modules = new Map<string, Module>();

const moduleOf = (file: string): Module => {
  const module = modules.get(file) ?? readModule(file);
  modules.set(file, module);
  return module;
};

const readModule = (file: string): Module => {
  const declared = new Map<string, readonly ts.Node[]>();
  const imported = new Map<string, Place>();
  const exported = new Set<string>();
  const passedOn: string[] = [];
  const fileOf = (from: ts.Expression | undefined): string =>
    from && ts.isStringLiteral(from) && from.text.startsWith('.')
      ? join(dirname(file), from.text.replace(/\.js$/, '.ts'))
      : '';
  const link = (from: string, { name, propertyName }: ts.ImportSpecifier | ts.ExportSpecifier): void => {
    if (from) imported.set(name.text, { file: from, name: (propertyName ?? name).text });
  };
  const text = readFileSync(join(ROOT, file), 'utf8');
  for (const node of ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true).statements) {
    if (ts.isImportDeclaration(node)) {
      const names = node.importClause?.namedBindings;
      if (names && ts.isNamedImports(names)) names.elements.forEach((one) => link(fileOf(node.moduleSpecifier), one));
    } else if (ts.isExportDeclaration(node)) {
      const { exportClause: clause } = node;
      if (!clause || ts.isNamespaceExport(clause)) passedOn.push(fileOf(node.moduleSpecifier));
      else
        for (const one of clause.elements) {
          link(fileOf(node.moduleSpecifier), one);
          exported.add(one.name.text);
        }
    } else {
      const isExported =
        ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
      for (const [name, one] of declarationsOf(node)) {
        declared.set(name, [...(declared.get(name) ?? []), one]);
        if (isExported) exported.add(name);
      }
    }
  }
  return { declared, imported, exported, passedOn };
};

const declarationsOf = (node: ts.Statement): readonly (readonly [string, ts.Node])[] => {
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.map((one) => [one.name.getText(), one]);
  return ts.isDeclarationStatement(node) && node.name ? [[node.name.getText(), node]] : [];
};

/** The declaration behind a name of a file; undefined for a name of a package or of the language. */
const placeOf = (file: string, name: string): Place | undefined => {
  const { declared, imported, passedOn } = moduleOf(file);
  if (declared.has(name)) return { file, name };
  const from = imported.get(name);
  if (from) return placeOf(from.file, from.name);
  return passedOn.map((other) => placeOf(other, name)).find((found) => found);
};

/** The declarations of all names that a file exports. */
export const exportedPlaces = (file: string): readonly Place[] => {
  const { exported, passedOn } = moduleOf(file);
  return [...[...exported].flatMap((name) => placeOf(file, name) ?? []), ...passedOn.flatMap(exportedPlaces)];
};

export const keyOf = ({ file, name }: Place): string => `${file}#${name}`;

/**
 * The types in the signatures of `places`, at any depth. `Pick<A, 'b'>`, `Omit<A, 'b'>` and `A['b']` are types without a name: they
 * reach the types of the members in question, not `A`. A value in `typeof a` is no type either; the types of its signature are.
 * The search does not go into the types `without`.
 */
export const typesReachedFrom = (places: readonly Place[], without: ReadonlySet<string>): Reached => {
  const types = new Map<string, string>();
  const inferred: string[] = [];
  const seen = new Set<string>();

  /** Reads the signature of `place`, or only the `members` of it. */
  const read = (place: Place, through: string, members?: (name: string) => boolean): void => {
    if (place.file.startsWith(GENERATED)) return;
    const path = `${through}${place.name}`;
    for (const node of moduleOf(place.file).declared.get(place.name) ?? []) {
      const parts = members && partsOf(node, members);
      for (const part of parts ?? [node]) {
        const id = `${place.file}:${part.pos}`;
        if (seen.has(id)) continue;
        seen.add(id);
        signatureOf(part, {
          type: (name) => {
            const found = placeOf(place.file, name);
            if (!found) return;
            if (!types.has(keyOf(found))) types.set(keyOf(found), path);
            if (!without.has(keyOf(found))) read(found, `${path} > `);
          },
          value: (name) => {
            const found = placeOf(place.file, name);
            if (found) read(found, `${path} > `);
          },
          membersOf: (name, wanted) => {
            const found = placeOf(place.file, name);
            if (found) read(found, `${path} > `, wanted);
          },
          inferred: (code) => inferred.push(`${keyOf(place)}: ${code.replace(/\s+/g, ' ').slice(0, 60)}`),
        });
      }
    }
  };
  for (const place of places) read(place, '');
  return { types, inferred };
};

/** The chosen members of an interface or a class and the types that it extends; undefined for other declarations. */
const partsOf = (node: ts.Node, members: (name: string) => boolean): readonly ts.Node[] | undefined => {
  if (!ts.isInterfaceDeclaration(node) && !ts.isClassDeclaration(node)) return undefined;
  const own: readonly ts.Node[] = node.members;
  return [
    ...own.filter((one) => 'name' in one && members((one.name as ts.Node).getText())),
    ...(node.heritageClauses ?? []),
  ];
};

interface Visitor {
  readonly type: (name: string) => void;
  readonly value: (name: string) => void;
  readonly membersOf: (name: string, wanted: (member: string) => boolean) => void;
  readonly inferred: (code: string) => void;
}

/** Visits the types in the text of a declaration: not the bodies of its functions, nor its values and private members. */
const signatureOf = (declaration: ts.Node, visitor: Visitor): void => {
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || (ts.isClassElement(node) && isPrivate(node))) return;
    if (ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) {
      if (node.type) visit(node.type);
      else if (node.initializer) value(node.initializer);
      return;
    }
    if (ts.isParameter(node)) {
      if (node.type) visit(node.type);
      return;
    }
    if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) {
      if (!node.type) visitor.inferred(node.getText());
    } else if (ts.isTypeQueryNode(node)) return visitor.value(leftmost(node.exprName));
    else if (ts.isIndexedAccessTypeNode(node)) {
      const names = literalsOf(node.indexType);
      if (names && ts.isTypeReferenceNode(node.objectType)) {
        visitor.membersOf(leftmost(node.objectType.typeName), (name) => names.includes(name));
        return;
      }
    } else if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
      const name = ts.isTypeReferenceNode(node) ? leftmost(node.typeName) : node.expression.getText();
      const [of, keys] = node.typeArguments ?? [];
      const names = keys && literalsOf(keys);
      if ((name === 'Pick' || name === 'Omit') && names && of && ts.isTypeReferenceNode(of)) {
        visitor.membersOf(leftmost(of.typeName), (member) => names.includes(member) === (name === 'Pick'));
        return;
      }
      visitor.type(name);
    }
    ts.forEachChild(node, visit);
  };
  const value = (node: ts.Expression): void => {
    if (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) {
      [...(node.typeParameters ?? []), ...node.parameters].forEach(visit);
      if (node.type) visit(node.type);
      else visitor.inferred(node.getText());
    } else if (ts.isNewExpression(node) && ts.isIdentifier(node.expression)) {
      visitor.type(node.expression.text);
      node.typeArguments?.forEach(visit);
    } else if (!isConstant(node)) visitor.inferred(node.getText());
  };
  visit(declaration);
};

const leftmost = (name: ts.EntityName): string => (ts.isIdentifier(name) ? name.text : leftmost(name.left));

/** The names of `'a' | 'b'`; undefined for other types. */
const literalsOf = (node: ts.TypeNode): readonly string[] | undefined => {
  const each = ts.isUnionTypeNode(node) ? node.types : [node];
  const names = each.flatMap((one) =>
    ts.isLiteralTypeNode(one) && ts.isStringLiteral(one.literal) ? [one.literal.text] : [],
  );
  return names.length === each.length ? names : undefined;
};

/** A literal, or a list or record as a constant: none of them has a type with a name. */
const isConstant = (node: ts.Expression): boolean =>
  ts.isLiteralExpression(node) ||
  node.kind === ts.SyntaxKind.TrueKeyword ||
  node.kind === ts.SyntaxKind.FalseKeyword ||
  (ts.isSatisfiesExpression(node) && isConstant(node.expression)) ||
  (ts.isAsExpression(node) && node.type.getText() === 'const');

const isPrivate = (node: ts.ClassElement): boolean =>
  (node.name !== undefined && ts.isPrivateIdentifier(node.name)) ||
  (ts.canHaveModifiers(node) &&
    (ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) ?? false));
