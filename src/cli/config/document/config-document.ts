import * as z from 'zod';
import { closestName } from '../../../model/manifest/closest-name.js';
import { type FieldPath, formatFieldPath } from '../../../model/manifest/field-issue.js';
import { parseDocuments } from '../../../model/manifest/manifest-documents.js';
import { innerSchema } from '../fields/field-paths.js';
import { kubeletConfiguration } from '../fields/kubelet-configuration.js';
import { isJsonObject, type JsonObject, mergePatch } from './merge-patch.js';

export const CONFIG_API_VERSION = 'kubelet.config.k8s.io/v1beta1';
export const CONFIG_KIND = 'KubeletConfiguration';

export interface ConfigDocument {
  /** The fields of the file, without the unknown ones. */
  readonly fields: JsonObject;
  /** `file:line:column: field: message` of every unknown field. */
  readonly warnings: readonly string[];
}

/**
 * Reads one configuration file, YAML or JSON. An unknown field is a warning and ignored: v1beta1 falls back to a
 * lenient load.
 *
 * Errors: one Error with the place of every problem, as `file:line:column: field: expected value`.
 * Source: loadConfigFile in cmd/kubelet/app/server.go, pkg/kubelet/kubeletconfig/util/codec/codec.go.
 */
export function readConfigDocument(text: string, file: string): ConfigDocument {
  const documents = parseDocuments(text);
  const [document, second] = documents;
  if (!document) throw new Error(`kubelet config file ${JSON.stringify(file)} was empty`);
  const at = ({ line, column }: { line: number; column: number }) => `${file}:${line}:${column}: `;
  if (document.errors.length > 0) throw problems(document.errors.map((error) => at(error) + error.message));
  if (second) throw new Error(`${file}: holds ${documents.length} documents, expected one ${CONFIG_KIND}`);
  const { value, locate } = document;
  if (!isJsonObject(value)) {
    throw new Error(`${at(locate({ path: [] }))}expected a ${CONFIG_KIND} object, found ${nameOf(value)}`);
  }
  for (const [field, expected] of [
    ['apiVersion', CONFIG_API_VERSION],
    ['kind', CONFIG_KIND],
  ] as const) {
    if (value[field] === expected) continue;
    const found = value[field] === undefined ? 'is missing' : `is ${JSON.stringify(value[field])}`;
    throw new Error(`${at(locate({ path: [field] }))}${field}: ${found}, expected ${JSON.stringify(expected)}`);
  }

  // A null in a file leaves the field out; in a drop-in it deletes the field, for every type.
  const issues = kubeletConfiguration.safeParse(mergePatch({}, value)).error?.issues ?? [];
  const errors: string[] = [];
  const unknown: FieldPath[] = [];
  for (const issue of issues.flatMap(unwrapUnion)) {
    if (issue.code === 'unrecognized_keys') unknown.push(...issue.keys.map((key) => [...pathOf(issue), key]));
    else {
      const path = pathOf(issue);
      errors.push(`${at(locate({ path }))}${formatFieldPath(path)}: ${issue.message.replace(/^Invalid input: /, '')}`);
    }
  }
  if (errors.length > 0) throw problems(errors);
  const placed = unknown
    .map((path) => ({ path, position: locate({ path, atKey: true }) }))
    .toSorted((a, b) => a.position.line - b.position.line || a.position.column - b.position.column);
  return {
    fields: unknown.reduce<JsonObject>((fields, path) => removeField(fields, path), value),
    warnings: placed.map(({ path, position }) => {
      const name = String(path.at(-1));
      const near = closestName(name, namesBeside(path));
      const hint = near === undefined ? '' : `, did you mean ${JSON.stringify(near)}?`;
      return `${at(position)}${formatFieldPath(path)}: unknown field${hint}`;
    }),
  };
}

type Issue = z.core.$ZodIssue;

/** The issues of the nearest branch of a union, for a value that matches no branch. */
const unwrapUnion = (issue: Issue): readonly Issue[] => {
  if (issue.code !== 'invalid_union') return [issue];
  const [first] = issue.errors;
  return (first ?? []).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
};

const pathOf = ({ path }: Issue): (string | number)[] =>
  path.map((part) => (typeof part === 'number' ? part : String(part)));

const problems = (texts: readonly string[]): Error =>
  new Error(texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`);

const nameOf = (value: unknown): string =>
  Array.isArray(value) ? 'a list' : value === null ? 'nothing' : typeof value;

const removeField = (fields: JsonObject, [key, ...below]: FieldPath): JsonObject => {
  if (key === undefined) return fields;
  if (below.length === 0) return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== String(key)));
  const inner = fields[key];
  if (Array.isArray(inner)) {
    const [index, ...deeper] = below;
    const items: readonly unknown[] = inner;
    return {
      ...fields,
      [key]: items.map((item, position) =>
        position === index && isJsonObject(item) ? removeField(item, deeper) : item,
      ),
    };
  }
  return isJsonObject(inner) ? { ...fields, [key]: removeField(inner, below) } : fields;
};

/** The known names at the place of the unknown one. */
const namesBeside = (path: FieldPath): readonly string[] => {
  let schema: unknown = kubeletConfiguration;
  for (const part of path.slice(0, -1)) {
    const inner = innerSchema(schema);
    if (inner instanceof z.ZodObject && typeof part === 'string') schema = inner.shape[part];
    else if (inner instanceof z.ZodArray) schema = inner.element;
  }
  const inner = innerSchema(schema);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
};
