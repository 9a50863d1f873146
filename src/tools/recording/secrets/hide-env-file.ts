import { parseEnvFile } from '../../../model/cri/env-file.js';
import type { SecretKeeper } from './secret-keeper.js';

/**
 * Returns an env file with placeholders for values. Its reader finds the same names, and a problem after the same ones; the rest of
 * the text is left out.
 */
export const hideEnvFile = (content: Uint8Array, keeper: SecretKeeper): Uint8Array => {
  const { values, problem } = parseEnvFile(content);
  const lines = [...values].map(([name, value]) => `${name}='${keeper.learnIfHideable(value)}'`);
  return new TextEncoder().encode(
    [...lines, ...(problem === undefined ? [] : ['?'])].map((line) => `${line}\n`).join(''),
  );
};
