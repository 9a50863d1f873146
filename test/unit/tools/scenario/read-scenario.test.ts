import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { formatManifestProblem } from '../../../../src/model/manifest/manifest-problem.js';
import { readScenario } from '../../../../src/tools/sim/scenario/read-scenario.js';
import { scenarioBehaviours } from '../../../../src/tools/sim/scenario/scenario-behaviours.js';
import { scenarioMismatches } from '../../../../src/tools/sim/scenario/scenario-mismatches.js';

const NAMES = [
  ...[
    'containers',
    'images',
    'node',
    'timeline',
    'app',
    'web/app',
    '*',
    'at',
    'image',
    'exit',
    'restartAgent',
    'from',
    'to',
  ],
  ...[
    'exitsAfter',
    'exitCode',
    'onStop',
    'stopsAfter',
    'failsProbes',
    'probe',
    'pull',
    'failures',
    'callsTake',
    'preStop',
  ],
];
const read = (text: string) => readScenario(text, 's.yaml');
const problems = (text: string) => read(text).problems.map(formatManifestProblem);

describe('a scenario', () => {
  it('assumes nothing when it is empty', () => {
    expect(read('# nothing\n')).toMatchObject({
      problems: [],
      scenario: { containers: {}, images: {}, node: {}, timeline: [] },
    });
  });

  it('has behaviours of containers, images, the node, and what happens when', () => {
    const { scenario, problems: none } = read(`
containers:
  web/app:
    - {startsAfter: 3s, readyAfter: 12s, exitsAfter: 40s, exitCode: 1}
    - onStop: hangs
      failsProbes: [{from: 2m, to: 5m, probe: liveness}]
  proxy: {stopsAfter: 1m30s, stopExitCode: 3, preStop: {takes: 500ms}}
images:
  registry.example/app:1: {pull: 8s, failures: 2, error: no such host}
node: {callsTake: 20ms, eventedPLEG: true}
timeline:
  - {at: 5m, deletePod: web}
  - {at: 1h, restartAgent: {}}
  - {at: 0, exit: web/app}
`);
    expect(none).toEqual([]);
    expect(scenario).toEqual({
      containers: {
        'web/app': [
          { startsAfterMs: 3000, readyAfterMs: 12_000, exitsAfterMs: 40_000, exitCode: 1 },
          {
            onStop: { kind: 'hangs' },
            probeFailures: [{ fromMs: 120_000, toMs: 300_000, which: 'liveness' }],
          },
        ],
        proxy: [{ onStop: { kind: 'exits', afterMs: 90_000, exitCode: 3 }, preStop: { takesMs: 500 } }],
      },
      images: { 'registry.example/app:1': { pullMs: 8000, pullError: { message: 'no such host', times: 2 } } },
      node: { callMs: { min: 20, max: 20 }, eventedPleg: true },
      timeline: [
        { atMs: 300_000, kind: 'delete-pod', pod: 'web' },
        { atMs: 3_600_000, kind: 'restart-agent', downMs: 1000 },
        { atMs: 0, kind: 'exit', container: 'web/app', exitCode: 137 },
      ],
    });
  });

  it.each([
    [
      'containers: 5',
      ['s.yaml:1:13: containers: is the number 5 (expected a mapping of POD/CONTAINER or CONTAINER to behaviours)'],
    ],
    ['[1]', ['s.yaml:1:1: is a list (expected a mapping with containers, images, node or timeline)']],
    [
      'containers:\n  app: {startAfter: 3s}',
      ['s.yaml:2:9: containers.app.startAfter: is not a known field (expected perhaps startsAfter)'],
    ],
    [
      'containers:\n  app:\n    - {readyAfter: 12}',
      ['s.yaml:3:20: containers.app[0].readyAfter: is the number 12 (expected a duration such as 12s or 1m30s)'],
    ],
    [
      'containers: {app: {exitsAfter: -3s}}',
      ['s.yaml:1:32: containers.app.exitsAfter: is the string "-3s" (expected a duration such as 12s or 1m30s)'],
    ],
    [
      'containers: {app: {exitsAfter: 1s, exitCode: 256}}',
      ['s.yaml:1:46: containers.app.exitCode: is the number 256 (expected a whole number from 0 to 255)'],
    ],
    [
      'containers: {app: {exitCode: 1}}',
      ['s.yaml:1:30: containers.app.exitCode: has no effect without exitsAfter (expected exitsAfter beside it)'],
    ],
    [
      'containers: {app: {onStop: hang}}',
      ['s.yaml:1:28: containers.app.onStop: is the string "hang" (expected one of exits, hangs)'],
    ],
    [
      'containers: {app: {onStop: hangs, stopsAfter: 3s}}',
      ['s.yaml:1:47: containers.app.stopsAfter: contradicts onStop: hangs (expected one of the two)'],
    ],
    ['containers: {app: []}', ['s.yaml:1:19: containers.app: is an empty list (expected at least one item)']],
    [
      'containers: {app: {failsProbes: {from: 5m, to: 2m}}}',
      ['s.yaml:1:48: containers.app.failsProbes.to: is not after from (expected a later time)'],
    ],
    [
      'containers: {a/b: {failsProbes: [{probe: ready}]}}',
      [
        's.yaml:1:42: containers["a/b"].failsProbes[0].probe: is the string "ready" (expected one of startup, readiness, liveness)',
      ],
    ],
    [
      'images: {i: {failures: often}}',
      ['s.yaml:1:24: images.i.failures: is the string "often" (expected a number of pulls, or always)'],
    ],
    [
      'images: {i: {error: no}}',
      [
        's.yaml:1:21: images.i.error: is the boolean false (expected an error text of the registry)',
        's.yaml:1:21: images.i.error: has no effect without failures (expected failures beside it)',
      ],
    ],
    [
      'node: {eventedPleg: true}',
      ['s.yaml:1:8: node.eventedPleg: is not a known field (expected perhaps eventedPLEG)'],
    ],
    [
      'node: {speed: 3}',
      [
        's.yaml:1:8: node.speed: is not a known field (expected a field of the node: callsTake, sandboxesTake, eventsTake, noEvents or eventedPLEG)',
      ],
    ],
    ['node: {callsTake: {from: 3s}}', ['s.yaml:1:19: node.callsTake.to: is missing (expected a field of a range)']],
    [
      'node: {callsTake: {from: 3s, to: 2s}}',
      ['s.yaml:1:34: node.callsTake.to: is less than from (expected a longer duration)'],
    ],
    [
      'timeline:\n  - {deletePod: web}',
      ['s.yaml:2:5: timeline[0].at: is missing (expected a field of a step of the timeline)'],
    ],
    [
      'timeline:\n  - at: 5m',
      [
        's.yaml:2:5: timeline[0]: names no effect (expected one of deletePod, restartAgent, restartRuntime, exit, image)',
      ],
    ],
    [
      'timeline: [{at: 5m, deletePod: a, exit: b}]',
      [
        's.yaml:1:12: timeline[0]: says deletePod and exit (expected one of deletePod, restartAgent, restartRuntime, exit, image)',
      ],
    ],
    [
      'timeline: [{at: 5m, deletePod: a, exitCode: 3}]',
      ['s.yaml:1:45: timeline[0].exitCode: does not belong to deletePod (expected nothing but at beside it)'],
    ],
    [
      'timeline: [{at: 5m, restartAgent: {downfor: 3s}}]',
      ['s.yaml:1:36: timeline[0].restartAgent.downfor: is not a known field (expected perhaps downFor)'],
    ],
    [
      'timeline: [{at: 5m, restartAgent: {up: null}}]',
      ['s.yaml:1:36: timeline[0].restartAgent.up: is not a known field (expected a field of a restart: downFor)'],
    ],
    [
      'timeline: [{exit: a, failures: often}]',
      [
        's.yaml:1:12: timeline[0].at: is missing (expected a field of a step of the timeline)',
        's.yaml:1:32: timeline[0].failures: is the string "often" (expected 0 or always)',
        's.yaml:1:32: timeline[0].failures: does not belong to exit (expected exitCode)',
      ],
    ],
    ['node: {}\n---\nnode: {}', ['s.yaml:3:1: is a second document (expected one scenario in a file)']],
    ['node: {\nimages:', ['s.yaml:1:7: is not closed by "}"']],
    ['node: {}\nnode: {}', ['s.yaml:2:1: map keys must be unique: "node" occurs twice']],
  ])('%j is refused with its place', (text, expected) => {
    expect(problems(text)).toEqual(expected);
  });

  it.each(['terminationMessage', 'lastWords'])('reads a termination message under the name %s', (name) => {
    const { scenario } = read(`containers: {app: {exitsAfter: 1s, ${name}: out of ideas}}`);
    expect(scenario.containers).toEqual({ app: [{ exitsAfterMs: 1000, terminationMessage: 'out of ideas' }] });
  });

  it('reads the files that a container writes', () => {
    const { scenario } = read(`containers: {app: {writes: {/data/env: "A='1'\\n"}}}`);
    expect(scenario.containers).toEqual({ app: [{ writes: { '/data/env': "A='1'\n" } }] });
    expect(problems('containers: {app: {writes: [a]}}')).toEqual([
      's.yaml:1:28: containers.app.writes: is a list (expected a mapping of absolute paths in the container to texts)',
    ]);
  });

  it('reports every problem, in the order of the text', () => {
    const text = 'timeline: [{at: soon, exit: a}]\nnode: {calls: 3s}\nimages: {i: {pull: true}}\n';
    expect(problems(text).map((problem) => problem.split(' (')[0])).toEqual([
      's.yaml:1:17: timeline[0].at: is the string "soon"',
      's.yaml:2:8: node.calls: is not a known field',
      's.yaml:3:20: images.i.pull: is the boolean true',
    ]);
  });
});

describe('what no manifest has', () => {
  const web = {
    name: 'web',
    spec: { initContainers: [{ name: 'prepare', image: 'i:1' }], containers: [{ name: 'app', image: 'i:2' }] },
  };
  const mismatches = (text: string) => {
    const { scenario, problemAt } = read(text);
    return scenarioMismatches(scenario, [web]).map((issue) => formatManifestProblem(problemAt(issue)));
  };

  it('is none for names of containers and images of the pods', () => {
    const text =
      'containers: {app: {}, web/prepare: {}}\nimages: {i:1: {}}\ntimeline: [{at: 1s, deletePod: web}, {at: 2s, exit: web/app}]';
    expect(mismatches(text.replace('i:1', '"i:1"'))).toEqual([]);
  });

  it.each([
    [
      'containers: {ap: {}}',
      's.yaml:1:14: containers.ap: no manifest has a container "ap" (expected perhaps app; one of web/prepare, web/app)',
    ],
    [
      'containers:\n  api/app: {}',
      's.yaml:2:3: containers["api/app"]: no manifest has a container "api/app" (expected one of web/prepare, web/app)',
    ],
    ['images: {x: {}}', 's.yaml:1:10: images.x: no manifest has an image "x" (expected one of i:1, i:2)'],
    [
      'timeline: [{at: 1s, deletePod: wbe}]',
      's.yaml:1:32: timeline[0].deletePod: no manifest has a pod "wbe" (expected perhaps web; one of web)',
    ],
    [
      'timeline: [{at: 1s, exit: web/prep}]',
      's.yaml:1:27: timeline[0].exit: no manifest has a container "web/prep" (expected one of web/prepare, web/app)',
    ],
    [
      'timeline: [{at: 1s, image: z, pull: 1s}]',
      's.yaml:1:28: timeline[0].image: no manifest has an image "z" (expected one of i:1, i:2)',
    ],
  ])('%j is named, with what there is', (text, expected) => {
    expect(mismatches(text)).toEqual([expected]);
  });

  it('is a hook that is no command, or is not there', () => {
    const hooked = {
      name: 'web',
      spec: { containers: [{ name: 'app', lifecycle: { preStop: { exec: { command: ['sh', '-c', 'drain'] } } } }] },
    };
    const { scenario, problemAt } = read(
      'containers:\n  app:\n    - preStop: {takes: 3s, exitCode: 1}\n      postStart: {}',
    );
    expect(scenarioMismatches(scenario, [hooked]).map((issue) => formatManifestProblem(problemAt(issue)))).toEqual([
      's.yaml:4:7: containers.app[0].postStart: is no hook of that container (expected a container whose lifecycle.postStart is an exec)',
    ]);
    const alone = read('containers:\n  app:\n    postStart: {}');
    const [issue] = scenarioMismatches(alone.scenario, [hooked]);
    expect(issue && formatManifestProblem(alone.problemAt(issue))).toMatch(
      /^s\.yaml:3:5: containers\.app\.postStart: /,
    );
    expect(scenarioBehaviours(scenario, [hooked]).containers).toEqual({
      'web/app': [{ commands: [{ contains: 'sh -c drain', takesMs: 3000, exitCode: 1 }] }],
    });
  });
});

describe('the world of a scenario', () => {
  it('knows every container by its full name; what is said of fewer counts more', () => {
    const pods = ['one', 'two', 'three'].map((name) => ({
      name,
      spec: { containers: [{ name: 'app' }, { name: `other-${name}` }] },
    }));
    const { scenario } = read(`
containers: {app: {exitsAfter: 1s}, two/app: {exitsAfter: 2s}, "*": {exitsAfter: 3s}}
node: {callsTake: {from: 1ms, to: 3ms}, eventedPLEG: true}
`);
    expect(scenarioBehaviours(scenario, pods)).toEqual({
      callMs: { min: 1, max: 3 },
      images: {},
      containers: {
        'one/app': [{ exitsAfterMs: 1000 }],
        'one/other-one': [{ exitsAfterMs: 3000 }],
        'two/app': [{ exitsAfterMs: 2000 }],
        'two/other-two': [{ exitsAfterMs: 3000 }],
        'three/app': [{ exitsAfterMs: 1000 }],
        'three/other-three': [{ exitsAfterMs: 3000 }],
      },
    });
  });
});

describe('any scenario', () => {
  const anything = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('3s', '1m', 'always', 'hangs', 'exits', 'liveness', 3, -1, 1.5, true, null, ''),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 4 }),
    ),
  })).value;

  test.prop([anything])('it is read, or every problem has a place in the text', (value) => {
    const text = JSON.stringify(value, undefined, 1);
    const lineCount = text.split('\n').length;
    for (const { line, column, message } of read(text).problems) {
      expect(line).toBeGreaterThanOrEqual(1);
      expect(line).toBeLessThanOrEqual(lineCount);
      expect(column).toBeLessThanOrEqual((text.split('\n')[line - 1]?.length ?? 0) + 1);
      expect(message).not.toBe('');
    }
  });

  test.prop([fc.string()])('nothing is thrown over any text', (text) => {
    expect(() => read(text)).not.toThrow();
  });
});
