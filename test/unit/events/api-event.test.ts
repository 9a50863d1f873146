import { describe, expect, it } from 'vitest';
import { apiEvent, type EventFact, type EventOrigin, originAfter } from '../../../src/model/events/api-event.js';
import { aPod } from '../../support/a-pod.js';

const AT = { nodeName: 'node-1', nanoseconds: BigInt(Date.parse('2026-06-07T08:09:10.987Z')) * 1_000_000n };
const fact: EventFact = { type: 'Warning', reason: 'Failed', message: 'Error: no' };
const container = (name: string) => ({ name, image: 'i' });

describe('an event of the API', () => {
  it('about a pod stands in the namespace of the pod, whose reference it has', () => {
    const pod = aPod({ source: 'api', namespace: 'shop', name: 'web', uid: 'u-1' });
    const versioned = { ...pod, metadata: { ...pod.metadata, resourceVersion: '17' } };
    expect(apiEvent({ ...fact, pod: versioned }, AT)).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'shop', name: `web.${AT.nanoseconds.toString(16)}` },
      involvedObject: {
        ...{ apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u-1', resourceVersion: '17' },
      },
      type: 'Warning',
      reason: 'Failed',
      message: 'Error: no',
      source: { component: 'kubelet', host: 'node-1' },
      reportingComponent: 'kubelet',
      reportingInstance: 'node-1',
      firstTimestamp: '2026-06-07T08:09:10Z',
      lastTimestamp: '2026-06-07T08:09:10Z',
      count: 1,
    });
  });

  it('has the annotations of its fact', () => {
    const annotations = { starved_resource: 'memory' };
    const { metadata } = apiEvent({ ...fact, pod: aPod({ name: 'web' }), annotations }, AT);
    expect(metadata).toEqual({ namespace: 'default', name: `web.${AT.nanoseconds.toString(16)}`, annotations });
  });

  it('about a static pod has the UID of the manifest, and no version, since it has none', () => {
    const pod = aPod({ source: 'file', uid: 'hash-of-the-manifest' });
    expect(apiEvent({ ...fact, pod }, AT).involvedObject).toEqual({
      ...{ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web', uid: 'hash-of-the-manifest' },
    });
  });

  it('about the node stands in the namespace default, with the name of the node for a UID', () => {
    const event = apiEvent(fact, AT);
    expect(event.metadata).toEqual({ namespace: 'default', name: `node-1.${AT.nanoseconds.toString(16)}` });
    const node = { apiVersion: 'v1', kind: 'Node', name: 'node-1' };
    expect(event.involvedObject).toEqual({ ...node, uid: 'node-1' });
    expect(apiEvent(fact, { ...AT, nodeUid: 'u' }).involvedObject).toEqual({ ...node, uid: 'u' });
  });

  it.each([
    ['main', 'spec.containers{main}'],
    ['first', 'spec.initContainers{first}'],
    ['shell', 'spec.ephemeralContainers{shell}'],
    ['', 'spec.containers[1]'],
    ['pause', 'implicitly required container pause'],
  ])('about the container %j names %s', (name, fieldPath) => {
    const pod = aPod({
      spec: {
        containers: [container('main'), container('')],
        initContainers: [container('first')],
        ephemeralContainers: [container('shell')],
      },
    });
    expect(apiEvent({ ...fact, pod, container: name }, AT).involvedObject.fieldPath).toBe(fieldPath);
  });

  it.each(['x'.repeat(240), 'Web', 'web_1'])('has a name of its own where %s would make none', (name) => {
    const pod = aPod({ name });
    const eventName = apiEvent({ ...fact, pod }, AT).metadata.name;
    expect(eventName).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const later = { ...AT, nanoseconds: AT.nanoseconds + 1n };
    expect(apiEvent({ ...fact, pod }, later).metadata.name).not.toBe(eventName);
    expect(apiEvent({ ...fact, pod: aPod({ name: `${name}x` }) }, AT).metadata.name).not.toBe(eventName);
  });
});

describe('the origin of an event', () => {
  const before: EventOrigin = { nodeName: 'node-1', nanoseconds: 5_000_000n };

  it.each([
    ['later', 6, 6_000_000n],
    ['at the same time', 5, 5_000_001n],
    ['before it by a clock that was set back', 1, 5_000_001n],
    ['a part of a millisecond later', 5.9, 5_000_001n],
  ])('has a time of its own for an event that happens %s', (_, wallMs, nanoseconds) => {
    expect(originAfter(before, { nodeUid: undefined, wallMs })).toEqual({ ...before, nanoseconds });
  });

  it.each([
    [undefined, undefined, undefined],
    [undefined, 'first', 'first'],
    ['first', 'second', 'first'],
    ['first', undefined, 'first'],
  ])('has the first UID of the Node: after %s and with %s that is %s', (known, nodeUid, expected) => {
    expect(originAfter({ ...before, nodeUid: known }, { nodeUid, wallMs: 6 }).nodeUid).toBe(expected);
  });
});
