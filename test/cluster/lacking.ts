import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isCommand, lackingForContainerd } from '../containerd/lacking.js';

const build = fileURLToPath(new URL('stage/build.sh', import.meta.url));
const hasServer = (): boolean => spawnSync(build, ['--cached'], { stdio: 'ignore' }).status === 0;

/** What this machine lacks for a real cluster, in words; empty when there is everything. */
export const lackingForCluster: readonly string[] = [
  ...lackingForContainerd,
  ...['openssl', 'kubectl', 'script'].filter((name) => !isCommand(name)),
  ...(isCommand(process.env.ETCD ?? 'etcd') ? [] : ['etcd']),
  ...(isCommand(process.env.KUBECTL ?? 'kubectl') ? [] : ['kubectl']),
  ...(hasServer() ? [] : ['a kube-apiserver, which test/cluster/stage/build.sh makes']),
];
