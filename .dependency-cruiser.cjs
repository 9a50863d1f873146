/**
 * Who may import whom. Rooms of src/:
 *
 *   model <- streams <- kubelet.ts <- with-node-ports.ts, cli
 *   model, streams/ports.ts, streams/operators <- each edge <- with-node-ports.ts, cli
 *   model, streams, kubelet.ts <- sim <- cli: a world in virtual time around the kubelet, without anything of Node.js
 *   index.ts, node.ts and sim.ts only re-export; nobody in src/ imports them.
 */
const EDGES = [
  'api',
  'runtime',
  'host',
  'images',
  'network',
  'sources',
  'journal',
  'server',
  'status',
  'volumes',
  'sim',
  'recording',
  'page',
];
/** Files beside the rooms, and nothing but files: a new one needs a place here. */
const COMPOSITION = ['kubelet', 'with-node-ports', 'index', 'node', 'sim'];

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
        pathNot: `^src/((model|streams|cli|generated|${EDGES.join('|')})/|(${COMPOSITION.join('|')})\\.ts$)`,
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
      from: { path: '^src/model/' },
      to: { path: 'node_modules/rxjs' },
    },
    {
      name: 'core-without-node',
      comment: 'Everything nondeterministic is a port.',
      severity: 'error',
      from: { path: '^src/(model|streams|sim)/|^src/(kubelet|index|sim)\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'core-takes-only-types-of-the-wire',
      comment: 'The generated CRI code loads gRPC; the core only needs its types.',
      severity: 'error',
      from: { path: '^src/(model|streams)/|^src/(kubelet|index)\\.ts$' },
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
      severity: 'error',
      from: { path: '^src/streams/operators/' },
      to: { path: '^src/', pathNot: '^src/streams/operators/' },
    },
    {
      name: 'edges-know-ports-and-model',
      comment: 'And operators. What waits belongs into streams.',
      severity: 'error',
      from: { path: `^src/(${EDGES.filter((edge) => edge !== 'sim').join('|')})/` },
      to: { path: '^src/streams/', pathNot: '^src/streams/(ports\\.ts$|operators/)' },
    },
    ...EDGES.map((edge) => ({
      name: `${edge}-imports-no-other-edge`,
      severity: 'error',
      from: { path: `^src/${edge}/` },
      to: { path: `^src/(${EDGES.filter((other) => other !== edge).join('|')})/` },
    })),
    {
      name: 'composition-is-on-top',
      comment:
        'The composition knows the rooms; no room knows the composition, except the command line, the simulation and, for the type of its ports, the recorder.',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/((cli|sim|recording)/|(${COMPOSITION.join('|')})\\.ts$)` },
      to: { path: `^src/(${COMPOSITION.join('|')})\\.ts$` },
    },
    {
      name: 'kubelet-knows-no-edge',
      comment: 'The loop gets the world through its ports.',
      severity: 'error',
      from: { path: '^src/kubelet\\.ts$' },
      to: { path: '^src/', pathNot: '^src/(model|streams)/' },
    },
    {
      name: 'nobody-imports-the-library',
      comment: 'Inside, a file is imported from where it is.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/(index|node|sim)\\.ts$' },
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
