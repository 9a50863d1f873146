import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { loadConfiguration, type LoadedConfiguration } from '../../../src/cli/config/load-configuration.js';
import type { JsonObject } from '../../../src/cli/config/document/merge-patch.js';

let path = '';

/** Gives each test of the file that calls it a folder. (Hooks of this module's own would be those of the first file that imports it.) */
export const useConfigFolder = (): void => {
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'config-'));
  });
  afterEach(() => {
    rmSync(path, { recursive: true, force: true });
  });
};

/** The folder of this test, which goes with it. */
export const folder = (): string => path;

export const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

export const write = (name: string, text: string): string => {
  const file = join(path, name);
  writeFileSync(file, text);
  return file;
};

export const load = (text: string, flags: JsonObject = {}): LoadedConfiguration =>
  loadConfiguration({ file: write('config.yaml', HEAD + text), directory: '', flags });
