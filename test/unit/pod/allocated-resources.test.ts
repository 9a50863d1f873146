import { describe, expect, it } from 'vitest';
import { allocatedOfContainers, containerAnnotations } from '../../../src/model/cri/labels.js';
import {
  allocatedOfPod,
  allocatedOfStatus,
  type Amounts,
  isResized,
  withAllocated,
} from '../../../src/model/pod/allocated-resources.js';
import { NO_PODS, wantedPodsView, withoutPod, withPod } from '../../../src/model/pod/wanted-pods.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { aContainer, aPod, aStatus } from '../pods.js';

const small = { requests: { cpu: '20m', memory: '35Mi' }, limits: { memory: '35Mi' } };
const large = { requests: { cpu: '40m', memory: '40Mi' }, limits: { memory: '40Mi' } };

const of = (resources: Amounts | undefined, ofPod?: Amounts): Pod =>
  aPod({
    initContainers: [aContainer('side', { restartPolicy: 'Always', ...(resources && { resources }) })],
    containers: [aContainer('web', { ...(resources && { resources }) }), aContainer('plain')],
    ...(ofPod && { resources: ofPod }),
  });

/** Amounts that are empty equal absent ones. */
const amountsIn = ({ spec }: Pod): unknown =>
  [spec, ...(spec.initContainers ?? []), ...spec.containers].map(({ resources: { requests, limits } = {} }) => ({
    requests,
    limits,
  }));

describe('the amounts on which the agent acts', () => {
  it.each<[row: string, asked: Pod, had: Pod]>([
    ['an increase', of(large), of(small)],
    ['a decrease', of(small), of(large)],
    ['amounts where there were none', of(small), of(undefined)],
    ['a limit where there was only a request', of(small), of({ requests: small.requests })],
    ['other amounts of the pod as a whole', of(small, large), of(small, small)],
    ['amounts of the pod as a whole where there were none', of(small, large), of(small)],
  ])('a pod keeps its amounts after a resize to %s', (_, asked, had) => {
    const pod = withAllocated(asked, allocatedOfPod(had));
    expect(isResized(asked, had)).toBe(true);
    expect(isResized(pod, had)).toBe(false);
    expect(amountsIn(pod)).toEqual(amountsIn(had));
  });

  it.each<[row: string, asked: Pod, had: Pod]>([
    ['equal amounts', of(small, large), of(small, large)],
    ['the same amounts in other words', of({ requests: { cpu: '1000m' } }), of({ requests: { cpu: '1' } })],
    [
      'another resource than CPU and memory',
      of({ limits: { 'example.com/gpu': '2' } }),
      of({ limits: { 'example.com/gpu': '1' } }),
    ],
    ['an empty list instead of none', of({ requests: {} }), of({})],
  ])('a pod with %s is not resized', (_, asked, had) => {
    expect(isResized(asked, had)).toBe(false);
    expect(withAllocated(asked, allocatedOfPod(had))).toBe(asked);
  });

  it('an agent finds the amounts of a container in the annotations of its newest instance', () => {
    const had = of(small, large);
    const [web] = had.spec.containers;
    const instances = [
      aStatus('web', { annotations: containerAnnotations(had, web!, 1) }),
      aStatus('web', { annotations: containerAnnotations(of(large, small), of(large).spec.containers[0]!, 0) }),
      aStatus('plain', { annotations: { 'rx-kubelet/container-resources': 'no JSON' } }),
    ];
    const found = allocatedOfContainers(instances);
    expect(found.container('web')).toEqual(small);
    expect(found.container('plain')).toBeUndefined();
    expect(found.container('side')).toBeUndefined();
    expect(found.pod).toEqual(large);
  });

  it('an agent that has just started takes the amounts of a resized pod from its status', () => {
    const status = (name: string, resources: Amounts) => ({
      ...{ name, image: '', imageID: '', ready: true, restartCount: 0 },
      ...{ resources, allocatedResources: resources.requests },
    });
    const asked: Pod = {
      ...of(large),
      status: { containerStatuses: [status('web', small)], initContainerStatuses: [status('side', small)] },
    };
    const pod = withAllocated(asked, allocatedOfStatus(asked.status!));
    expect(pod.spec.containers[0]?.resources).toEqual(small);
    expect(pod.spec.initContainers?.[0]?.resources).toEqual(small);
  });

  it('the set of pods keeps the amounts with which a pod came, and knows those that are asked for', () => {
    let wanted = NO_PODS;
    const pods = wantedPodsView(() => wanted);
    wanted = withPod(wanted, of(small));
    const asked = of(large);
    wanted = withPod(wanted, asked);
    expect(pods.get('uid-1')?.spec.containers[0]?.resources).toEqual(small);
    expect(pods.resolve(asked).pod).toBe(pods.get('uid-1'));
    expect(pods.asked('uid-1')).toBe(asked);
    wanted = withPod(wanted, of(small));
    expect(pods.asked('uid-1')).toBe(pods.get('uid-1'));
    wanted = withPod(wanted, asked);
    wanted = withoutPod(wanted, asked);
    expect(pods.asked('uid-1')).toBeUndefined();
    wanted = withPod(wanted, asked);
    expect(pods.get('uid-1')).toBe(asked);
  });
});
