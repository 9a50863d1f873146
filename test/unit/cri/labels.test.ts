import { describe, expect, it } from 'vitest';
import {
  containerAnnotations,
  containerLabels,
  parseContainerAnnotations,
  sandboxLabels,
} from '../../../src/model/cri/labels.js';
import { aContainer, aPod } from '../pods.js';

const identity = {
  'io.kubernetes.pod.name': 'p',
  'io.kubernetes.pod.namespace': 'default',
  'io.kubernetes.pod.uid': 'uid-1',
};

it('labels a sandbox with the labels of the pod, which cannot hide whose it is', () => {
  const pod = aPod({}, { labels: { app: 'web', 'io.kubernetes.pod.uid': 'other' } });
  expect(sandboxLabels(pod)).toEqual({ app: 'web', ...identity });
});

it('labels a container with nothing of the pod but its identity', () => {
  const pod = aPod({}, { labels: { app: 'web' } });
  expect(containerLabels(pod, aContainer('web'))).toEqual({ ...identity, 'io.kubernetes.container.name': 'web' });
});

describe('annotations of a container', () => {
  const preStop = { exec: { command: ['sh', '-c', 'true'] } };
  // Given in any order, they are written in that of the API.
  const ports = [{ protocol: 'TCP', containerPort: 80, name: 'http' }];
  const full = aContainer('test_container', {
    image: 'foo/image:v1',
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    lifecycle: { preStop },
    ports,
  });

  it('hold what stopping it takes', () => {
    const pod = aPod({ terminationGracePeriodSeconds: 30 }, { deletionGracePeriodSeconds: 5 });
    expect(containerAnnotations(pod, full, 3)).toEqual({
      'io.kubernetes.container.hash': '8e45cbd0',
      'io.kubernetes.container.restartCount': '3',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.deletionGracePeriod': '5',
      'io.kubernetes.pod.terminationGracePeriod': '30',
      'io.kubernetes.container.preStopHandler': JSON.stringify(preStop),
      'io.kubernetes.container.ports': '[{"name":"http","containerPort":80,"protocol":"TCP"}]',
      'rx-kubelet/container-resources': '{}',
    });
  });

  it('leave out what is not set', () => {
    expect(Object.keys(containerAnnotations(aPod(), aContainer('web'), 0))).toEqual([
      'io.kubernetes.container.hash',
      'io.kubernetes.container.restartCount',
      'io.kubernetes.container.terminationMessagePath',
      'io.kubernetes.container.terminationMessagePolicy',
      'rx-kubelet/container-resources',
    ]);
  });

  it('are read back', () => {
    const pod = aPod({ terminationGracePeriodSeconds: 30 }, { deletionGracePeriodSeconds: 0 });
    expect(parseContainerAnnotations(containerAnnotations(pod, full, 3))).toEqual({
      hash: '8e45cbd0',
      restartCount: 3,
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      deletionGracePeriodSeconds: 0,
      terminationGracePeriodSeconds: 30,
      preStop,
      ports,
    });
  });

  it.each([
    ['none', {}],
    [
      'unreadable ones',
      {
        'io.kubernetes.container.restartCount': 'many',
        'io.kubernetes.pod.terminationGracePeriod': '',
        'io.kubernetes.container.preStopHandler': '{',
        'io.kubernetes.container.ports': '{}',
      },
    ],
  ])('%s read as nothing', (_, annotations) => {
    expect(parseContainerAnnotations(annotations)).toEqual({
      hash: '',
      restartCount: 0,
      terminationMessagePath: '',
      terminationMessagePolicy: '',
    });
  });
});
