/** model <- streams <- kubelet <- cli, and model + streams/ports <- each edge <- cli. */
const EDGES = ['runtime', 'sources', 'journal', 'server', 'status', 'volumes', 'sim'];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'model-imports-only-model',
      comment: 'Decisions are pure. Types of the CRI and of the Kubernetes API are fine.',
      severity: 'error',
      from: { path: '^src/model' },
      to: { path: '^src/(?!model/|generated/)' },
    },
    {
      name: 'core-without-node',
      comment: 'Everything nondeterministic is a port.',
      severity: 'error',
      from: { path: '^src/(model|streams)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'core-takes-only-types-of-the-wire',
      comment: 'The generated CRI code loads gRPC; the core only needs its types.',
      severity: 'error',
      from: { path: '^src/(model|streams)/' },
      to: {
        path: '^(src/generated/runtime|node_modules/@grpc|node_modules/@kubernetes)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'model-without-rxjs',
      severity: 'error',
      from: { path: '^src/model' },
      to: { path: 'node_modules/rxjs' },
    },
    {
      name: 'streams-import-model-and-streams',
      severity: 'error',
      from: { path: '^src/streams' },
      to: { path: '^src/(?!model/|streams/|generated/)' },
    },
    {
      name: 'operators-have-never-heard-of-a-pod',
      severity: 'error',
      from: { path: '^src/streams/operators' },
      to: { path: '^src/(?!streams/operators/)' },
    },
    {
      name: 'edges-know-ports-and-model',
      severity: 'error',
      from: { path: `^src/(${EDGES.join('|')})/` },
      to: { path: '^src/streams/(?!ports\\.ts$|operators/)' },
    },
    ...EDGES.map((edge) => ({
      name: `${edge}-imports-no-other-edge`,
      severity: 'error',
      from: { path: `^src/${edge}/` },
      to: { path: `^src/(${EDGES.filter((other) => other !== edge).join('|')}|cli|kubelet\\.ts)` },
    })),
    {
      name: 'only-cli-and-sim-compose',
      severity: 'error',
      from: { path: '^src/(?!cli/|sim/|index\\.ts)' },
      to: { path: '^src/kubelet\\.ts$' },
    },
    { name: 'nobody-imports-cli', severity: 'error', from: { path: '^src/(?!cli/)' }, to: { path: '^src/cli/' } },
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
