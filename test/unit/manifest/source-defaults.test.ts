import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';
import { applySourceDefaults, type SourceOfManifest } from '../../../src/model/manifest/source-defaults.js';
import { withMetadata, withSpec } from './marked.js';

const FILE: SourceOfManifest = { source: 'file', nodeName: 'Node1', origin: '/m/p.yaml' };
const place = (text: string, source: SourceOfManifest = FILE) =>
  applySourceDefaults(readManifest(text, { file: 'p' }).pods[0]!.pod, source);
const uidOf = (text: string, source?: SourceOfManifest) => place(text, source).metadata.uid;
const PLAIN = withSpec('');

describe('applySourceDefaults', () => {
  it('names the pod after the node and places it there', () => {
    const { metadata, spec, status } = place(PLAIN);
    expect(metadata).toMatchObject({ name: 'p-node1', namespace: 'default' });
    expect(spec.nodeName).toBe('Node1');
    expect(status).toEqual({ phase: 'Pending' });
    expect(metadata.uid).toMatch(/^[0-9a-f]{32}$/);
    expect(metadata.annotations).toEqual({ 'kubernetes.io/config.hash': metadata.uid });
  });

  it('keeps a namespace, a UID and annotations that are given', () => {
    const { metadata } = place(withMetadata('name: p\nnamespace: ns\nuid: my-uid\nannotations: {a: b}'));
    expect(metadata).toMatchObject({
      namespace: 'ns',
      uid: 'my-uid',
      annotations: { a: 'b', 'kubernetes.io/config.hash': 'my-uid' },
    });
  });

  it('gives another UID to another pod, file, node or source, and the same to the same', () => {
    const uids = [
      uidOf(PLAIN),
      uidOf(withSpec('hostname: x')),
      uidOf(withMetadata('name: q')),
      uidOf(withMetadata('name: p\nlabels: {a: b}')),
      uidOf(PLAIN, { ...FILE, origin: '/m/q.yaml' }),
      uidOf(PLAIN, { ...FILE, nodeName: 'node2' }),
      uidOf(PLAIN, { ...FILE, source: 'http' }),
    ];
    expect(new Set(uids).size).toBe(uids.length);
    expect(uidOf(PLAIN)).toBe(uids[0]);
    expect(uidOf(withSpec('restartPolicy: Always'))).toBe(uids[0]);
    expect(uidOf(withSpec('hostname: a\nsubdomain: b'))).toBe(uidOf(withSpec('subdomain: b\nhostname: a')));
    const ofUrl = { ...FILE, source: 'http' as const };
    expect(uidOf(PLAIN, ofUrl)).toBe(uidOf(PLAIN, { ...ofUrl, nodeName: 'node2' }));
  });

  it('gives the UID that earlier versions gave, with a hash from elsewhere too', () => {
    const { pod, contentHash } = readManifest(PLAIN, { file: 'p' }).pods[0]!;
    expect(uidOf(PLAIN)).toBe('3954ad313ebccc10402a7022da316620');
    expect(applySourceDefaults(pod, FILE, contentHash).metadata.uid).toBe('3954ad313ebccc10402a7022da316620');
    expect(applySourceDefaults(pod, FILE, '0').metadata.uid).not.toBe(uidOf(PLAIN));
  });

  it('lets a pod of a file stay with any taints of its node', () => {
    const everything = { operator: 'Exists', effect: 'NoExecute' };
    const tolerationsOf = (given: string, source = FILE) =>
      place(withSpec(`tolerations: [${given}]`), source).spec.tolerations;
    expect(place(PLAIN).spec.tolerations).toEqual([everything]);
    expect(tolerationsOf('{key: a, operator: Exists}')).toEqual([{ key: 'a', operator: 'Exists' }, everything]);
    expect(tolerationsOf('{operator: Exists, effect: NoExecute, tolerationSeconds: 5}')).toEqual([everything]);
    expect(place(PLAIN, { ...FILE, source: 'http' }).spec.tolerations).toBeUndefined();
  });
});
