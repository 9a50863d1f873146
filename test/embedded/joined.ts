import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes a kubeconfig for a server in a directory of a test, and returns its path. */
export const joined = (directory: string, server: string): string => {
  const path = join(directory, 'kubeconfig.json');
  writeFileSync(join(directory, 'token'), 'secret\n');
  const kubeconfig = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { tokenFile: 'token' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  writeFileSync(path, JSON.stringify(kubeconfig));
  return path;
};
