import { longestArgument, USUAL_LIMITS } from '../cri/argument-list.js';
import { effectlessFields } from './effectless-fields.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { priorityWarnings } from './priority-warnings.js';
import type { PodManifest } from './pod-manifest.js';
import { containersWithPaths } from './static-pod-restrictions.js';

/** Fields of a pod that are accepted, but do not do what they seem to. */
export const podWarnings = (pod: PodManifest, path: FieldPath): readonly FieldIssue[] => [
  ...failingHooks(pod, path),
  ...longTexts(pod, path),
  ...[...effectlessFields(pod), ...priorityWarnings(pod)].map((found) => ({
    ...found,
    path: [...path, ...found.path],
  })),
];

const failingHooks = ({ spec }: PodManifest, path: FieldPath): readonly FieldIssue[] =>
  containersWithPaths(spec).flatMap(({ at, container }) =>
    (['postStart', 'preStop'] as const)
      .filter((when) => container.lifecycle?.[when]?.tcpSocket)
      .map((when) => {
        const field = [...path, 'spec', ...at, 'lifecycle', when, 'tcpSocket'];
        // Source: pkg/kubelet/lifecycle/handlers.go Run
        return { ...issue(field, 'is not run by any kubelet: the hook always fails', HOOKS), atKey: true };
      }),
  );

const HOOKS = 'exec, httpGet or sleep';

const LONGEST = longestArgument(USUAL_LIMITS.pageBytes);

/** Variables and arguments that Linux refuses with E2BIG. */
const longTexts = ({ spec }: PodManifest, path: FieldPath): readonly FieldIssue[] =>
  containersWithPaths(spec).flatMap(({ at, container }) => {
    const { env, lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
    const here = [...path, 'spec', ...at];
    const variables = (env ?? []).map(({ name, value }, index) => ({
      ...{ field: [...here, 'env', index, 'value'], bytes: Buffer.byteLength(`${name}=${value ?? ''}`) },
      what: 'with its name',
    }));
    const commands = [
      ...[
        { field: ['command'], words: container.command },
        { field: ['args'], words: container.args },
      ],
      ...Object.entries({ livenessProbe, readinessProbe, startupProbe }).map(([name, probe]) => ({
        ...{ field: [name, 'exec', 'command'], words: probe?.exec?.command },
      })),
      ...(['postStart', 'preStop'] as const).map((when) => ({
        ...{ field: ['lifecycle', when, 'exec', 'command'], words: lifecycle?.[when]?.exec?.command },
      })),
    ];
    const arguments_ = commands.flatMap(({ field, words }) =>
      (words ?? []).map((word, index) => ({
        field: [...here, ...field, index],
        bytes: Buffer.byteLength(word),
        what: '',
      })),
    );
    return [...variables, ...arguments_]
      .filter(({ bytes }) => bytes > LONGEST)
      .map(({ field, bytes, what }) =>
        issue(field, `${what && `${what} `}has ${bytes} bytes: Linux starts no program with it`, `at most ${LONGEST}`),
      );
  });
