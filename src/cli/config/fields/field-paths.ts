import * as z from 'zod';
import { kubeletConfiguration } from './kubelet-configuration.js';

/** The schema inside a default, an option or a conversion. */
export const innerSchema = (schema: unknown): unknown => {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return innerSchema(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? innerSchema(schema.in) : schema;
};

/** Every field of the configuration that is no object with fields of its own, such as `authentication.webhook.enabled`. */
export const fieldPaths = (schema: unknown = kubeletConfiguration, path = ''): readonly string[] => {
  const inner = innerSchema(schema);
  if (!(inner instanceof z.ZodObject)) return [path];
  return Object.entries(inner.shape).flatMap(([name, below]) =>
    fieldPaths(below, path === '' ? name : `${path}.${name}`),
  );
};
