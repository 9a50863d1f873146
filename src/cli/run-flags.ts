import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseGoDuration } from '../model/go-duration.js';
import { parseQuantity, unitValue } from '../model/quantity.js';
import { addClusterFlags, CLUSTER_FIELD_FLAGS, type ClusterFlags, readClusterFlags } from './cluster/cluster-flags.js';
import { parseFeatureGates } from './config/feature-gates.js';
import type { JsonObject } from './config/merge-patch.js';

export interface RunFlags {
  readonly config: string;
  readonly configDir: string;
  readonly rootDir: string;
  readonly hostnameOverride: string;
  readonly stopPodsOnExit: boolean;
  /** The file of a recording; empty for none. */
  readonly record: string;
  /** Bytes. */
  readonly recordMaxSize: number;
  /** Of a node of a cluster; standalone unless given. */
  readonly cluster?: ClusterFlags;
  /** Those flags that have a field, as a configuration file would say it. Only what was given. */
  readonly fields: JsonObject;
}

const durationText = (text: string): string => {
  if (parseGoDuration(text) === undefined) throw new InvalidArgumentError('expected a duration such as 1m30s');
  return text;
};

const wholeNumber = (text: string): number => {
  if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
};

const trueOrFalse = (text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('expected true or false');
  return text === 'true';
};

const bytes = (text: string): number => {
  const amount = parseQuantity(text);
  if (amount === undefined || unitValue(amount) < SMALLEST_RECORDING) {
    throw new InvalidArgumentError('expected a size such as 256Mi, and at least 1Mi');
  }
  return Number(unitValue(amount));
};

const SMALLEST_RECORDING = 1024n * 1024n;

const commaList = (text: string): readonly string[] => text.split(',').filter((item) => item !== '');

type Headers = Readonly<Record<string, readonly string[]>>;

const addHeader = (text: string, before: Headers = {}): Headers => {
  const [, name, value = ''] = /^([!#$%&'*+.^_`|~\w-]+):(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('expected Name:value');
  return { ...before, [name]: [...(before[name] ?? []), value.trim()] };
};

const addGates = (text: string, before: JsonObject = {}): JsonObject => {
  try {
    return { ...before, ...parseFeatureGates(text) };
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
};

/** Flags with a field of the same meaning. Source: AddKubeletConfigFlags in cmd/kubelet/app/options/options.go. */
const FIELD_FLAGS: readonly { readonly field: string; readonly option: Option }[] = [
  {
    field: 'staticPodPath',
    option: new Option('--pod-manifest-path <path>', 'file or folder of the manifests to run'),
  },
  { field: 'staticPodURL', option: new Option('--manifest-url <url>', 'URL of the manifests to run') },
  {
    field: 'staticPodURLHeader',
    option: new Option('--manifest-url-header <Name:value>', 'header for --manifest-url; may be repeated').argParser(
      addHeader,
    ),
  },
  {
    field: 'containerRuntimeEndpoint',
    option: new Option('--container-runtime-endpoint <socket>', 'CRI runtime; the embedded one when absent'),
  },
  {
    field: 'imageServiceEndpoint',
    option: new Option('--image-service-endpoint <socket>', 'CRI image service; the runtime when absent'),
  },
  { field: 'runOnce', option: new Option('--runonce', 'start the pods, report, and exit') },
  {
    field: 'healthzPort',
    option: new Option('--healthz-port <port>', 'port of the local server, 0 for none').argParser(wholeNumber),
  },
  {
    field: 'healthzBindAddress',
    option: new Option('--healthz-bind-address <address>', 'address of the local server'),
  },
  {
    field: 'syncFrequency',
    option: new Option('--sync-frequency <duration>', 'between routine syncs of a pod').argParser(durationText),
  },
  {
    field: 'fileCheckFrequency',
    option: new Option('--file-check-frequency <duration>', 'between full readings of manifests').argParser(
      durationText,
    ),
  },
  {
    field: 'httpCheckFrequency',
    option: new Option('--http-check-frequency <duration>', 'between readings of the URL').argParser(durationText),
  },
  {
    field: 'cgroupRoot',
    option: new Option('--cgroup-root <path>', 'cgroup below which the cgroups of pods are made'),
  },
  {
    field: 'cgroupDriver',
    option: new Option('--cgroup-driver <driver>', 'cgroupfs or systemd, for a runtime that does not say'),
  },
  {
    field: 'cgroupsPerQOS',
    option: new Option('--cgroups-per-qos <true|false>', 'make cgroups for pods').argParser(trueOrFalse),
  },
  {
    field: 'enforceNodeAllocatable',
    option: new Option(
      '--enforce-node-allocatable <list>',
      'what is held to its share, such as pods; empty for nothing',
    ).argParser(commaList),
  },
  { field: 'podLogsDir', option: new Option('--pod-logs-dir <path>', 'where the logs of containers go') },
  {
    field: 'featureGates',
    option: new Option('--feature-gates <A=true,B=false>', 'feature gates to switch').argParser(addGates),
  },
  ...CLUSTER_FIELD_FLAGS,
];

/** Adds every flag of `run` to the command. */
export const addRunFlags = (command: Command): Command => {
  for (const { option } of FIELD_FLAGS) command.addOption(option);
  return addClusterFlags(command)
    .option('--config <file>', 'KubeletConfiguration v1beta1, YAML or JSON', '')
    .option('--config-dir <folder>', 'folder of drop-ins (*.conf) for --config', '')
    .option('--root-dir <folder>', 'where the agent keeps its state', '')
    .option('--hostname-override <name>', 'name of the node', '')
    .option('--stop-pods-on-exit', 'stop the pods, too, when the agent is told to stop', false)
    .option('--record <file>', 'record what the agent sees and does, for replay', '')
    .addOption(
      new Option('--record-max-size <size>', 'where the recording ends').argParser(bytes).default(2 ** 28, '256Mi'),
    )
    .addOption(
      new Option('-v, --v <level>', 'verbosity of the log; 4 and more is for developers').argParser(wholeNumber),
    );
};

/** What was given, from what commander parsed. */
export const readRunFlags = (options: Readonly<Record<string, unknown>>): RunFlags => {
  const given = FIELD_FLAGS.flatMap(({ field, option }) => {
    const value = options[option.attributeName()];
    return value === undefined ? [] : [[field, value] as const];
  });
  const { config, configDir, rootDir, hostnameOverride, stopPodsOnExit, record, recordMaxSize, v } =
    options as unknown as Omit<RunFlags, 'fields' | 'cluster'> & { readonly v?: number };
  return {
    config,
    configDir,
    rootDir,
    hostnameOverride,
    stopPodsOnExit,
    record,
    recordMaxSize,
    cluster: readClusterFlags(options),
    fields: { ...Object.fromEntries(given), ...(v === undefined ? {} : { logging: { verbosity: v } }) },
  };
};

/** The kubelet takes `_` for `-` in the name of a flag. What follows `--` is left alone. */
export const withDashes = (args: readonly string[]): string[] => {
  const end = args.indexOf('--');
  return args.map((arg, index) => {
    if (!arg.startsWith('--') || (end >= 0 && index >= end)) return arg;
    const [name = '', ...value] = arg.split('=');
    return [name.replaceAll('_', '-'), ...value].join('=');
  });
};
