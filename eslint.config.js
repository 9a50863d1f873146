import rxjs from 'eslint-plugin-rxjs-x';
import { globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/**
 * kill(2) takes 0 and negative numbers for groups of processes, and a wrong number for another process. One function calls it, and refuses
 * these.
 */
const signals = [
  ":matches(MemberExpression[object.name='process'], MemberExpression[object.property.name='process'])" +
    ":matches([property.name='kill'], [property.value='kill'])",
  ":matches(VariableDeclarator[init.name='process'], VariableDeclarator[init.property.name='process']) > ObjectPattern > Property[key.name='kill']",
  "ImportDeclaration[source.value=/^(node:)?process$/] > ImportSpecifier[imported.name='kill']",
].map((selector) => ({
  selector,
  message:
    'Signal with sendSignal of src/processes/send-signal.ts; a test with killProcess of test/support/kill-process.ts.',
}));

/** Node reports `EROFS` of a read-only disk, and most other refusals, as `ENOENT` of a directory that is to be made. */
const directories = {
  selector:
    "CallExpression[callee.name=/^mkdir(Sync)?$/] > ObjectExpression > Property[key.name='recursive'][value.value=true]",
  message: 'Make it with makeDirectories, or makeDirectoriesSync, of src/processes/make-directories.ts.',
};

/**
 * Vitest keeps the promise of `rejects` and `resolves` for the test that runs at that time. A look that fails, and whose repetition passes, would
 * fail a test beside it.
 */
const looks = {
  selector:
    "CallExpression[callee.name='eventually'] MemberExpression[property.name=/^(rejects|resolves)$/][object.callee.name='expect']",
  message: 'Return whether it is so, for example with `.then(() => false, () => true)`, or assert the awaited value.',
};

/** What would let a clock, a draw or the outside world into the rooms that must run in virtual time. */
const nondeterminism = {
  'no-restricted-imports': [
    'error',
    {
      patterns: [
        {
          group: ['node:*', 'fs', 'net', 'http', 'https', 'child_process'],
          message: 'The outside world lives behind a port.',
        },
      ],
    },
  ],
  'no-restricted-globals': [
    'error',
    ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'process', 'performance', 'fetch', 'crypto'].map(
      (name) => ({
        name,
        message: 'Take time, randomness and the outside world from a scheduler or a port.',
      }),
    ),
  ],
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: 'Ask the scheduler for the time.' },
    { object: 'Math', property: 'random', message: 'Take a `random` function.' },
  ],
  'no-restricted-syntax': [
    'error',
    { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Ask the scheduler for the time.' },
    ...signals,
  ],
};

export default tseslint.config(
  globalIgnores(['dist', 'coverage', 'src/generated', 'node_modules']),
  { files: ['**/*.{ts,js,mjs,cjs}'], rules: { 'no-restricted-syntax': ['error', ...signals] } },
  { files: ['src/**/*.ts'], rules: { 'no-restricted-syntax': ['error', ...signals, directories] } },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked, rxjs.configs.recommended],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      // node:test-like `it` calls and rxjs teardown return values that nobody awaits.
      '@typescript-eslint/require-await': 'off',
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400, skipComments: true, skipBlankLines: true }],
      'rxjs-x/finnish': [
        'error',
        {
          functions: false,
          methods: false,
          parameters: true,
          properties: false,
          objects: false,
          variables: true,
          strict: false,
          // An operator calls what it is piped from `source`.
          names: { '^source$': false },
          // What makes an Observable reads like rxjs itself; the rule would count it among Observables.
          types: { '^(__function|__type|create(Cold|Hot)Observable)$': false },
        },
      ],
    },
  },
  {
    files: ['src/streams/**/*.ts', 'src/model/**/*.ts', 'src/tools/{sim,why,timeline}/**/*.ts'],
    rules: nondeterminism,
  },
  {
    // One place subscribes: the command line. Adapters that turn an Observable into something else are named here.
    files: [
      'src/streams/**/*.ts',
      'src/model/**/*.ts',
      'src/kubelet.ts',
      'src/assemble-cluster.ts',
      'src/assemble-kubelet.ts',
      'src/assemble-pods.ts',
      'src/kubelet-options.ts',
    ],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...nondeterminism['no-restricted-syntax'].slice(1),
        {
          selector: "CallExpression[callee.property.name='subscribe'][callee.object.name!='source']",
          message: 'One place subscribes: src/cli.',
        },
      ],
    },
  },
  { files: ['test/**/*.test.ts'], rules: { 'no-restricted-syntax': ['error', ...signals, looks] } },
  {
    // Tests without a clock share their modules: hooks of a helper would be those of the first file that imports it.
    files: ['test/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...signals,
        looks,
        {
          selector: 'Program > ExpressionStatement > CallExpression[callee.name=/^(before|after)(Each|All)$/]',
          message: 'Export a function that registers the hook, and call it in the file of tests.',
        },
      ],
    },
  },
  { files: ['src/processes/send-signal.ts'], rules: { 'no-restricted-syntax': 'off' } },
  { files: ['src/processes/make-directories.ts'], rules: { 'no-restricted-syntax': ['error', ...signals] } },
  {
    // In a marble test a double such as `const work = cold('--|')` reads better without a dollar, and anything may be thrown.
    files: ['test/**/*.ts'],
    rules: { 'rxjs-x/finnish': 'off', 'rxjs-x/throw-error': 'off' },
  },
);
