import { type Command, InvalidArgumentError, Option } from 'commander';
import { type NodeIps, parseNodeIps } from '../../model/node/node-addresses.js';
import { parseNodeLabels } from '../../model/node/node-labels.js';
import type { JsonObject } from '../config/document/merge-patch.js';

/** The part of the last known state that is kept on disk, for the time while the API server is away. */
export type LastKnownState = 'all' | 'without-secrets' | 'none';

/** Flags of a node of a cluster that have no field in the configuration. Source: cmd/kubelet/app/options/options.go. */
export interface ClusterFlags {
  /** The path of the file; empty without a cluster. */
  readonly kubeconfig: string;
  /** The file for the first certificate request; empty for none. */
  readonly bootstrapKubeconfig: string;
  /** The directory of certificates; empty for `pki` below the root directory. */
  readonly certDir: string;
  /** Addresses of the node. */
  readonly nodeIps: readonly string[];
  /** The values of `--node-ip` that are no addresses. */
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

/** Parses a flag with `parse`; its error becomes the error of the flag. */
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

/** Flags of a node of a cluster with a configuration field of the same meaning. */
export const CLUSTER_FIELD_FLAGS: readonly { readonly field: string; readonly option: Option }[] = [
  {
    field: 'registerNode',
    option: new Option(
      '--register-node <true|false>',
      'create the Node if it does not exist (default: true)',
    ).argParser(trueOrFalse),
  },
  {
    field: 'registerWithTaints',
    option: new Option(
      '--register-with-taints <key=value:effect,…>',
      'taints of a Node that the agent creates',
    ).argParser(taints),
  },
  { field: 'providerID', option: new Option('--provider-id <id>', 'ID of this machine in the cloud') },
  {
    field: 'rotateCertificates',
    option: new Option(
      '--rotate-certificates [true|false]',
      'renew the client certificate before it expires (default: false)',
    )
      .argParser(trueOrFalse)
      .preset('true'),
  },
  {
    field: 'kubeAPIQPS',
    option: new Option('--kube-api-qps <n>', 'requests a second to the API server (default: 50)').argParser(
      wholeNumber,
    ),
  },
  {
    field: 'kubeAPIBurst',
    option: new Option('--kube-api-burst <n>', 'burst of requests to the API server (default: 100)').argParser(
      wholeNumber,
    ),
  },
  {
    field: 'eventRecordQPS',
    option: new Option('--event-qps <n>', 'events a second (default: 50)').argParser(wholeNumber),
  },
  {
    field: 'eventBurst',
    option: new Option('--event-burst <n>', 'burst of events (default: 100)').argParser(wholeNumber),
  },
  {
    field: 'maxPods',
    option: new Option('--max-pods <n>', 'maximum number of pods (default: 110)').argParser(wholeNumber),
  },
];

/** Adds the flags without a configuration field to the command. */
export const addClusterFlags = (command: Command): Command =>
  command
    .addOption(
      new Option('--kubeconfig <file>', 'file with the address of the API server and the credentials').default(
        '',
        'none, pods come from manifests alone',
      ),
    )
    .addOption(
      new Option(
        '--bootstrap-kubeconfig <file>',
        'file for requesting the first client certificate, if --kubeconfig does not exist',
      ).default('', 'none'),
    )
    .addOption(new Option('--cert-dir <folder>', 'directory of certificates').default('', 'pki below --root-dir'))
    .addOption(
      new Option('--node-ip <ip,…>', 'address of the node, or one of each family')
        .argParser(parsedBy(parseNodeIps))
        .default(parseNodeIps(''), 'found on the machine'),
    )
    .addOption(
      new Option('--node-labels <key=value,…>', 'labels of a Node that the agent creates')
        .argParser(parsedBy(parseNodeLabels))
        .default({}, 'none'),
    )
    .addOption(
      new Option('--cloud-provider <name>', 'external, or nothing').choices(['', 'external']).default('', 'nothing'),
    )
    .addOption(
      new Option(
        '--last-known-state <what>',
        'state of the cluster to keep on disk for the time while the API server is away',
      )
        .choices(['all', 'without-secrets', 'none'])
        .default('all'),
    );

/** The flags that were given, from the result of commander. */
export const readClusterFlags = (options: Readonly<Record<string, unknown>>): ClusterFlags => {
  const { kubeconfig, bootstrapKubeconfig, certDir, nodeIp, nodeLabels, cloudProvider, lastKnownState } =
    options as unknown as ClusterFlags & { readonly nodeIp: NodeIps };
  return {
    kubeconfig,
    bootstrapKubeconfig,
    certDir,
    nodeLabels,
    cloudProvider,
    lastKnownState,
    nodeIps: nodeIp.nodeIps,
    invalidNodeIps: nodeIp.invalid,
  };
};
