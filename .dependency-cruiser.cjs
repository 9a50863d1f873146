/**
 * Who may import whom. Rooms of src/:
 *
 *   model <- streams <- kubelet.ts <- with-node-ports.ts, cli
 *   model, streams/ports, streams/operators, processes <- each edge <- with-node-ports.ts, cli
 *   everything above <- tools <- cli: what explains an agent, records it or simulates it. The agent runs without tools.
 *   index.ts, node.ts, sim.ts and marbles.ts only re-export; no file in src/ imports them.
 */
const EDGES = ['kube-api', 'runtime', 'host', 'images', 'network', 'sources', 'journal', 'server'];
/** The rooms that a tool may import, beside model and generated code. */
const TOOLS = {
  why: [],
  timeline: ['tools/why'],
  page: ['tools/timeline', 'tools/why'],
  marbles: [],
  recording: ['tools/timeline', 'streams/ports', 'streams/operators'],
  sim: ['tools/timeline', 'tools/why', 'streams'],
};
/** The files beside the folders of a room: where it begins, or without a topic of its own. */
const BEGINNINGS = [
  'cli/(main|program|local-commands|config/load-configuration)',
  'host/(monotonic-scheduler|record-profile)',
  'server/(agent|health|kubelet|read-only)-server',
  'runtime/embedded/(server|grpc-adapter|runtime-error)',
  'tools/recording/(record-kubelet|replay)',
  'tools/sim/simulated-node',
];
/** Rooms whose folders lie on each other: each folder imports those before it only, and no folder the file on top. */
const FLOORS = {
  embedded: {
    room: 'runtime/embedded',
    folders: [
      'machine',
      'confinement',
      'mounts',
      'launch',
      'state',
      'sandboxes',
      'images',
      'containers',
      'streaming',
      'service',
    ],
    top: 'server',
  },
  config: {
    room: 'cli/config',
    folders: ['fields', 'document', 'settings', 'validation'],
    top: 'load-configuration',
  },
};
/** Files beside the rooms, and nothing but files: a new one needs a place here. */
const COMPOSITION = [
  'kubelet',
  'kubelet-options',
  'assemble-cluster',
  'assemble-kubelet',
  'assemble-pods',
  'kubelet-parts',
  'with-node-ports',
  'index',
  'node',
  'sim',
  'marbles',
];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-missing-files', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-development-packages',
      comment: 'What is installed with the package must be among its dependencies.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'every-file-has-a-room',
      severity: 'error',
      from: {},
      to: {
        path: '^src/',
        pathNot: `^src/((model|streams|cli|generated|processes|${EDGES.join('|')}|tools/(${Object.keys(TOOLS).join('|')}))/|(${COMPOSITION.join('|')})\\.ts$)`,
      },
    },
    {
      name: 'every-topic-has-a-folder',
      comment:
        'In these rooms a file lies in the folder of its topic, never beside the folders, except where a room begins.',
      severity: 'error',
      from: {},
      to: {
        path: '^src/(streams|model|host|server|cli|cli/config|runtime/embedded|tools/(recording|sim))/[^/]+$',
        pathNot: `^src/(${BEGINNINGS.join('|')})\\.ts$`,
      },
    },
    {
      name: 'model-imports-only-model',
      comment: 'Decisions are pure. Types of the CRI and of the Kubernetes API are fine.',
      severity: 'error',
      from: { path: '^src/model/' },
      to: { path: '^src/', pathNot: '^src/(model|generated)/' },
    },
    {
      name: 'model-without-rxjs',
      comment: 'A decision takes no time.',
      severity: 'error',
      from: { path: '^src/(model|tools/(why|timeline|page))/' },
      to: { path: 'node_modules/rxjs' },
    },
    {
      name: 'core-without-node',
      comment: 'Everything nondeterministic is a port.',
      severity: 'error',
      from: {
        path: '^src/(model|streams|tools/(sim|why|timeline|page))/|^src/(kubelet|kubelet-options|kubelet-parts|assemble-(cluster|kubelet|pods)|index|sim)\\.ts$',
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'core-takes-only-types-of-the-wire',
      comment: 'The generated CRI code loads gRPC; the core only needs its types.',
      severity: 'error',
      from: {
        path: '^src/(model|streams)/|^src/(kubelet|kubelet-options|kubelet-parts|assemble-(cluster|kubelet|pods)|index)\\.ts$',
      },
      to: {
        path: '^src/generated/(runtime|grpc)/|node_modules/@(grpc|kubernetes|bufbuild)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'streams-import-model-and-streams',
      severity: 'error',
      from: { path: '^src/streams/' },
      to: { path: '^src/', pathNot: '^src/(model|streams|generated)/' },
    },
    {
      name: 'operators-have-never-heard-of-a-pod',
      comment: 'Of the model they take plain values only, such as a back-off.',
      severity: 'error',
      from: { path: '^src/streams/operators/' },
      to: { path: '^src/', pathNot: '^src/(streams/operators|model/values)/' },
    },
    {
      name: 'edges-know-ports-and-model',
      comment: 'And operators. What waits belongs into streams.',
      severity: 'error',
      from: { path: `^src/(${EDGES.join('|')})/` },
      to: { path: '^src/streams/', pathNot: '^src/streams/(ports|operators)/' },
    },
    ...EDGES.map((edge) => ({
      name: `${edge}-imports-no-other-edge`,
      severity: 'error',
      from: { path: `^src/${edge}/` },
      to: { path: `^src/(${EDGES.filter((other) => other !== edge).join('|')})/` },
    })),
    ...Object.entries(FLOORS).flatMap(([name, { room, folders, top }]) =>
      folders.map((folder, place) => ({
        name: `${name}-${folder}-imports-what-is-below`,
        severity: 'error',
        from: { path: `^src/${room}/${folder}/` },
        to: {
          path: `^src/${room}/(${[`${top}\\.ts$`, ...folders.slice(place + 1).map((above) => `${above}/`)].join('|')})`,
        },
      })),
    ),
    {
      name: 'processes-imports-no-room',
      comment: 'Edges and the command line signal processes and make directories through it.',
      severity: 'error',
      from: { path: '^src/processes/' },
      to: { path: '^src/', pathNot: '^src/processes/' },
    },
    ...Object.entries(TOOLS).map(([tool, rooms]) => ({
      name: `${tool}-imports-only-its-rooms`,
      comment: 'A tool looks at the agent through its ports, its journal and its types.',
      severity: 'error',
      from: { path: `^src/tools/${tool}/` },
      to: {
        path: '^src/',
        pathNot: `^src/((model|generated|tools/${tool}${rooms.map((room) => `|${room}`).join('')})/|(${COMPOSITION.join('|')})\\.ts$)`,
      },
    })),
    {
      name: 'agent-knows-no-tool',
      comment: 'The agent runs without what explains, records or simulates it; the command line puts them together.',
      severity: 'error',
      from: {
        path: `^src/(model|streams|${EDGES.join('|')})/|^src/(kubelet|kubelet-options|kubelet-parts|assemble-(cluster|kubelet|pods)|with-node-ports)\\.ts$`,
      },
      to: { path: '^src/tools/' },
    },
    {
      name: 'composition-is-on-top',
      comment:
        'The composition knows the rooms; no room knows the composition, except the command line, the simulation and, for the type of its ports, the recorder.',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/((cli|tools/(sim|recording))/|(${COMPOSITION.join('|')})\\.ts$)` },
      to: { path: `^src/(${COMPOSITION.join('|')})\\.ts$` },
    },
    {
      name: 'kubelet-knows-no-edge',
      comment: 'The loop gets the world through its ports.',
      severity: 'error',
      from: { path: '^src/(kubelet|kubelet-options|kubelet-parts|assemble-(cluster|kubelet|pods))\\.ts$' },
      to: {
        path: '^src/',
        pathNot: '^src/((model|streams)/|(kubelet-options|kubelet-parts|assemble-(cluster|kubelet|pods))\\.ts$)',
      },
    },
    {
      name: 'nobody-imports-the-library',
      comment: 'Inside, a file is imported from where it is.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/(index|node|sim|marbles)\\.ts$' },
    },
    { name: 'nobody-imports-cli', severity: 'error', from: { pathNot: '^src/cli/' }, to: { path: '^src/cli/' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
