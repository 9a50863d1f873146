import { concat, defer, ignoreElements, type Observable, of, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Container, PodSpec } from '../../../src/model/pod/pod.js';
import { agentMounts } from '../../../src/streams/pod-sync/agent-mounts.js';
import { aPod } from '../../support/a-pod.js';
import { nodeFacts } from '../../support/node-facts.js';
import { noFiles, noPodFiles, syncStage } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

interface Scene {
  readonly container?: Partial<Container>;
  readonly spec?: Partial<PodSpec>;
  readonly ips?: readonly string[];
  readonly canMount?: boolean;
  readonly hasSelinux?: boolean;
  /** What fails, as `did` shows it. */
  readonly fails?: string;
}

/** The mounts of container `main`, whose every file takes a millisecond; `did` says what was done when. */
const stageOf = (
  scheduler: Parameters<typeof syncStage>[1],
  { container = {}, spec = {}, ips = ['10.0.0.1'], canMount = true, hasSelinux, fails }: Scene,
) => {
  const did: string[] = [];
  const slowly = (what: string): Observable<never> =>
    defer(() => {
      did.push(`${scheduler.now()} ${what}`);
      if (what === fails) return throwError(() => new Error('no space'));
      return timer(1, scheduler).pipe(ignoreElements());
    });
  const stage = syncStage(aPod({ spec }), scheduler, {
    files: { ...noFiles, makeDirectory: (path, mode) => slowly(`mkdir ${path} ${mode.toString(8)}`) },
    podFiles: {
      ...noPodFiles,
      write: (path, content, mode) => slowly(`write ${path} ${mode.toString(8)} ${content.split('\n')[0]}`.trimEnd()),
      read: (path) => concat(slowly(`read ${path}`), of('1.2.3.4 here\n')),
    },
    random: () => 0xbeef / 2 ** 32,
  });
  const context = {
    ...stage.context,
    ports: {
      ...stage.context.ports,
      node: { ...nodeFacts, canMount, ...(hasSelinux !== undefined && { hasSelinux }) },
    },
  };
  const subject = { name: 'main', image: 'app:1', terminationMessagePath: '/dev/termination-log', ...container };
  return { ...stage, did, mounts$: agentMounts(context, subject, ips) };
};

const POD = '/root-dir/pods/uid-1';
const hosts = { hostPath: `${POD}/etc-hosts`, containerPath: '/etc/hosts' };
const words = { hostPath: `${POD}/containers/main/0000beef`, containerPath: '/dev/termination-log' };
const HOSTS_WRITTEN = `write ${POD}/etc-hosts 644 # Kubernetes-managed hosts file.`;
const MADE = `mkdir ${POD}/containers/main 750`;
const WORDS_WRITTEN = `write ${POD}/containers/main/0000beef 666`;

describe('a container gets', () => {
  it(
    'its files one after the other, each mounted once it is there',
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, {});
      expectObservable(stage.mounts$).toBe('---(m|)', { m: [hosts, words] });
      scheduler.schedule(
        () => expect(stage.did).toEqual([`0 ${HOSTS_WRITTEN}`, `1 ${MADE}`, `2 ${WORDS_WRITTEN}`]),
        10,
      );
    }),
  );

  it.each<Scene & { case: string; took: string; mounts: readonly object[]; did: readonly string[] }>([
    {
      case: 'the hosts file of the node in a pod on its network',
      spec: { hostNetwork: true },
      ips: [],
      took: '----(m|)',
      mounts: [hosts, words],
      did: [
        '0 read /etc/hosts',
        `1 write ${POD}/etc-hosts 644 # Kubernetes-managed hosts file (host network).`,
        `2 ${MADE}`,
        `3 ${WORDS_WRITTEN}`,
      ],
    },
    {
      case: 'files that are relabelled where SELinux is on',
      hasSelinux: true,
      took: '---(m|)',
      mounts: [hosts, words].map((mount) => ({ ...mount, selinuxRelabel: true })),
      did: [`0 ${HOSTS_WRITTEN}`, `1 ${MADE}`, `2 ${WORDS_WRITTEN}`],
    },
    {
      case: 'no hosts file while the pod has no address',
      ips: [],
      took: '--(m|)',
      mounts: [words],
      did: [`0 ${MADE}`, `1 ${WORDS_WRITTEN}`],
    },
    {
      case: 'no file for a termination message that it does not want',
      container: { terminationMessagePath: '' },
      took: '-(m|)',
      mounts: [hosts],
      did: [`0 ${HOSTS_WRITTEN}`],
    },
    {
      case: 'that place where it wants it, below the root',
      container: { terminationMessagePath: 'tmp/words' },
      ips: [],
      took: '--(m|)',
      mounts: [{ ...words, containerPath: '/tmp/words' }],
      did: [`0 ${MADE}`, `1 ${WORDS_WRITTEN}`],
    },
    { case: 'nothing over a runtime that cannot mount', canMount: false, took: '(m|)', mounts: [], did: [] },
  ])('$case', ({ took, mounts, did, ...scene }) => {
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, scene);
      expectObservable(stage.mounts$).toBe(took, { m: mounts });
      scheduler.schedule(() => expect(stage.did).toEqual(did), 10);
    })();
  });
});

describe('a file that cannot be made', () => {
  it(
    'keeps the container from being created if it is the hosts file',
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { fails: HOSTS_WRITTEN });
      expectObservable(stage.mounts$).toBe('#', {}, new Error('no space'));
    }),
  );

  it.each([MADE, WORDS_WRITTEN])('is left out and said if it is for the termination message: %s', (fails) => {
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { fails });
      expectObservable(stage.mounts$).toBe(fails === MADE ? '-(m|)' : '--(m|)', { m: [hosts] });
      scheduler.schedule(
        () => expect(stage.logged).toEqual(['a container gets no file for its termination message']),
        10,
      );
    })();
  });
});

it('has a new name for every instance', () => {
  const names = [0, 0.5, 1 - 2 ** -53].map((drawn) => {
    const stage = syncStage(aPod(), { now: () => 0 } as never, { random: () => drawn });
    const paths: unknown[] = [];
    agentMounts(stage.context, { name: 'main', terminationMessagePath: '/x' }, []).subscribe((mounts) =>
      paths.push(...mounts.map(({ hostPath }) => hostPath?.split('/').at(-1))),
    );
    return paths;
  });
  expect(names).toEqual([['00000000'], ['80000000'], ['ffffffff']]);
});
