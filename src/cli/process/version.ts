import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isShortage } from '../../model/values/file-error.js';

/** The version of this package, whether it runs from its sources or from the bundle. */
export const packageVersion = (): string => {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        readonly name?: string;
        readonly version?: string;
      };
      if (name === 'rx-kubelet' && version !== undefined) return version;
    } catch (error) {
      // Otherwise the file is not in this folder.
      if (isShortage(error)) throw error;
    }
    if (folder === dirname(folder)) throw new Error('the package.json of rx-kubelet is missing');
  }
};
