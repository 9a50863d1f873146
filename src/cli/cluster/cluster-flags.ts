import { type Command, InvalidArgumentError, Option } from 'commander';
import { type NodeIps, parseNodeIps } from '../../model/node/node-addresses.js';
import { parseNodeLabels } from '../../model/node/node-labels.js';
import type { JsonObject } from '../config/merge-patch.js';

/** What of the last known state is kept on disk, for when the API server is away. */
export type LastKnownState = 'all' | 'without-secrets' | 'none';

/** Flags of a node of a cluster that have no field in the configuration. Source: cmd/kubelet/app/options/options.go. */
export interface ClusterFlags {
  /** The file; empty without a cluster. */
  readonly kubeconfig: string;
  /** The file with which the first certificate is asked for; empty for none. */
  readonly bootstrapKubeconfig: string;
  /** Where certificates are kept; empty for `pki` below the root directory. */
  readonly certDir: string;
  /** Addresses of the node. */
  readonly nodeIps: readonly string[];
  /** What was given as an address and is none. */
  readonly invalidNodeIps: readonly string[];
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** Empty, or `external`. */
  readonly cloudProvider: string;
  readonly lastKnownState: LastKnownState;
}

const commaList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** What `parse` makes of the text of a flag, with its error as that of the flag. */
const parsedBy =
  <T>(parse: (text: string) => T) =>
  (text: string): T => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError((error as Error).message);
    }
  };

/** `key=value:Effect`, `key:Effect`. Source: pkg/util/taints/taints.go. */
const taints = (text: string): readonly JsonObject[] =>
  commaList(text).map((taint) => {
    const [, key = '', value, effect = ''] =
      /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(taint) ?? [];
    if (effect === '') {
      throw new InvalidArgumentError(
        `expected key=value:effect with effect NoSchedule, PreferNoSchedule or NoExecute, not ${JSON.stringify(taint)}`,
      );
    }
    return { key, ...(value !== undefined && { value }), effect };
  });

const trueOrFalse = (text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('expected true or false');
  return text === 'true';
};

const wholeNumber = (text: string): number => {
  if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
};

/** Flags of a node of a cluster that have a field of the same meaning. */
export const CLUSTER_FIELD_FLAGS: readonly { readonly field: string; readonly option: Option }[] = [
  {
    field: 'registerNode',
    option: new Option('--register-node <true|false>', 'make the Node if there is none').argParser(trueOrFalse),
  },
  {
    field: 'registerWithTaints',
    option: new Option('--register-with-taints <key=value:effect,…>', 'taints of a Node that is made').argParser(
      taints,
    ),
  },
  { field: 'providerID', option: new Option('--provider-id <id>', 'how the cloud calls this machine') },
  {
    field: 'rotateCertificates',
    option: new Option('--rotate-certificates [true|false]', 'ask for the next client certificate in time')
      .argParser(trueOrFalse)
      .preset('true'),
  },
  {
    field: 'kubeAPIQPS',
    option: new Option('--kube-api-qps <n>', 'requests a second to the API server').argParser(wholeNumber),
  },
  {
    field: 'kubeAPIBurst',
    option: new Option('--kube-api-burst <n>', 'requests at once to the API server').argParser(wholeNumber),
  },
  { field: 'eventRecordQPS', option: new Option('--event-qps <n>', 'events a second').argParser(wholeNumber) },
  { field: 'eventBurst', option: new Option('--event-burst <n>', 'events at once').argParser(wholeNumber) },
  { field: 'maxPods', option: new Option('--max-pods <n>', 'how many pods run here').argParser(wholeNumber) },
];

/** Adds the flags that have no field to the command. */
export const addClusterFlags = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'how to reach the API server; without it pods come from manifests alone', '')
    .option(
      '--bootstrap-kubeconfig <file>',
      'how to get the first client certificate, if --kubeconfig does not exist',
      '',
    )
    .option('--cert-dir <folder>', 'where certificates are kept', '')
    .addOption(
      new Option('--node-ip <ip,…>', 'address of the node, or one of each family')
        .argParser(parsedBy(parseNodeIps))
        .default(parseNodeIps('')),
    )
    .addOption(
      new Option('--node-labels <key=value,…>', 'labels of a Node that is made')
        .argParser(parsedBy(parseNodeLabels))
        .default({}),
    )
    .addOption(new Option('--cloud-provider <name>', 'external, or nothing').choices(['', 'external']).default(''))
    .addOption(
      new Option('--last-known-state <what>', 'what is kept on disk for when the API server is away')
        .choices(['all', 'without-secrets', 'none'])
        .default('all'),
    );

/** What was given, from what commander parsed. */
export const readClusterFlags = (options: Readonly<Record<string, unknown>>): ClusterFlags => {
  const { kubeconfig, bootstrapKubeconfig, certDir, nodeIp, nodeLabels, cloudProvider, lastKnownState } =
    options as unknown as ClusterFlags & { readonly nodeIp: NodeIps };
  return {
    ...{ kubeconfig, bootstrapKubeconfig, certDir, nodeLabels, cloudProvider, lastKnownState },
    nodeIps: nodeIp.nodeIps,
    invalidNodeIps: nodeIp.invalid,
  };
};
