import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseGoDuration } from '../../model/values/go-duration.js';
import { parseQuantity, unitValue } from '../../model/resources/quantity.js';
import { addClusterFlags, CLUSTER_FIELD_FLAGS, type ClusterFlags, readClusterFlags } from '../cluster/cluster-flags.js';
import { SERVER_FIELD_FLAGS } from './server-flags.js';
import { parseFeatureGates } from '../config/fields/feature-gates.js';
import { isJsonObject, type JsonObject } from '../config/document/merge-patch.js';

export interface RunFlags {
  readonly config: string;
  readonly configDir: string;
  readonly rootDir: string;
  readonly hostnameOverride: string;
  readonly stopPodsOnExit: boolean;
  /** The file of a recording; empty for none. */
  readonly record: string;
  /** The maximum size of a recording in bytes. */
  readonly recordMaxSize: number;
  /** The flags of a node of a cluster; absent for a standalone node. */
  readonly cluster?: ClusterFlags;
  /** The flags with a configuration field, in the form of a configuration file. Only those that were given. */
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

/** The feature gates of the node, also for the commands that read manifests as it does. */
export const featureGatesOption = (): Option =>
  new Option('--feature-gates <A=true,B=false>', 'feature gates to switch').argParser(addGates);

/**
 * Flags with a configuration field of the same meaning. Source: AddKubeletConfigFlags in
 * cmd/kubelet/app/options/options.go.
 * A dot in `field` separates a field from its part.
 */
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
    option: new Option(
      '--container-runtime-endpoint <socket>',
      'socket of the CRI runtime; the embedded one unless given',
    ),
  },
  {
    field: 'imageServiceEndpoint',
    option: new Option(
      '--image-service-endpoint <socket>',
      'socket of the CRI image service; that of the runtime unless given',
    ),
  },
  { field: 'runOnce', option: new Option('--runonce', 'start the pods, report, and exit') },
  {
    field: 'healthzPort',
    option: new Option('--healthz-port <port>', 'port of the health server, 0 for none (default: 10248)').argParser(
      wholeNumber,
    ),
  },
  {
    field: 'healthzBindAddress',
    option: new Option('--healthz-bind-address <address>', 'address of the health server (default: 127.0.0.1)'),
  },
  {
    field: 'syncFrequency',
    option: new Option('--sync-frequency <duration>', 'time between routine syncs of a pod (default: 1m0s)').argParser(
      durationText,
    ),
  },
  {
    field: 'fileCheckFrequency',
    option: new Option(
      '--file-check-frequency <duration>',
      'time between full reads of manifests (default: 20s)',
    ).argParser(durationText),
  },
  {
    field: 'httpCheckFrequency',
    option: new Option('--http-check-frequency <duration>', 'time between reads of the URL (default: 20s)').argParser(
      durationText,
    ),
  },
  {
    field: 'cgroupRoot',
    option: new Option('--cgroup-root <path>', 'parent of the cgroups of pods'),
  },
  {
    field: 'cgroupDriver',
    option: new Option(
      '--cgroup-driver <driver>',
      'cgroupfs or systemd, for a runtime that does not report it (default: cgroupfs)',
    ),
  },
  {
    field: 'cgroupsPerQOS',
    option: new Option('--cgroups-per-qos <true|false>', 'make cgroups for pods (default: true)').argParser(
      trueOrFalse,
    ),
  },
  {
    field: 'enforceNodeAllocatable',
    option: new Option(
      '--enforce-node-allocatable <list>',
      'reservations to enforce, empty for none (default: pods)',
    ).argParser(commaList),
  },
  {
    field: 'failSwapOn',
    option: new Option(
      '--fail-swap-on <true|false>',
      'refuse to start on a machine that swaps; unless given, only with --kubeconfig',
    ).argParser(trueOrFalse),
  },
  {
    field: 'podLogsDir',
    option: new Option(
      '--pod-logs-dir <path>',
      'directory of container logs (default: pod-logs below --root-dir; with another runtime /var/log/pods)',
    ),
  },
  { field: 'featureGates', option: featureGatesOption() },
  ...CLUSTER_FIELD_FLAGS,
  ...SERVER_FIELD_FLAGS,
];

export const rootDirOption = (): Option =>
  new Option('--root-dir <folder>', 'directory of the state of the agent').default(
    '',
    'for root /var/lib/rx-kubelet, else rx-kubelet in $XDG_STATE_HOME or ~/.local/state',
  );

/** The flags with a field, by their names without dashes. */
export const FIELD_FLAG_NAMES: readonly { readonly field: string; readonly name: string }[] = FIELD_FLAGS.map(
  ({ field, option }) => ({ field, name: option.name() }),
);

/** Adds every flag of `run` to the command. */
export const addRunFlags = (command: Command): Command => {
  for (const { option } of FIELD_FLAGS) command.addOption(option);
  return addClusterFlags(command)
    .addOption(new Option('--config <file>', 'KubeletConfiguration v1beta1, YAML or JSON').default('', 'none'))
    .addOption(new Option('--config-dir <folder>', 'folder of drop-ins (*.conf) for --config').default('', 'none'))
    .addOption(rootDirOption())
    .addOption(new Option('--hostname-override <name>', 'name of the node').default('', 'the host name'))
    .option('--stop-pods-on-exit', 'stop the pods when the agent is stopped by a signal', false)
    .addOption(
      new Option('--record <file>', 'record all inputs and actions of the agent, for replay').default(
        '',
        'no recording',
      ),
    )
    .addOption(
      new Option('--record-max-size <size>', 'size at which the recording ends')
        .argParser(bytes)
        .default(2 ** 28, '256Mi'),
    )
    .addOption(
      new Option('-v, --v <level>', 'verbosity of the log; 4 and more is for developers (default: 0)').argParser(
        wholeNumber,
      ),
    );
};

/** The flags that were given, from the result of commander. */
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
    fields: {
      ...given.reduce<JsonObject>((fields, [field, value]) => withField(fields, field.split('.'), value), {}),
      ...(v === undefined ? {} : { logging: { verbosity: v } }),
    },
  };
};

/** Sets a field, which may be a part of another one. */
const withField = (fields: JsonObject, [key = '', ...below]: readonly string[], value: unknown): JsonObject => {
  const part = fields[key];
  return { ...fields, [key]: below.length === 0 ? value : withField(isJsonObject(part) ? part : {}, below, value) };
};

/** The kubelet accepts `_` for `-` in the name of a flag, and `-v=2` for `-v 2`. Arguments after `--` are unchanged. */
export const commonForms = (args: readonly string[]): string[] => {
  const end = args.indexOf('--');
  return args.map((arg, index) => {
    if (end >= 0 && index >= end) return arg;
    if (!arg.startsWith('--')) return arg.replace(/^-(\w)=/, '-$1');
    const [name = '', ...value] = arg.split('=');
    return [name.replaceAll('_', '-'), ...value].join('=');
  });
};
