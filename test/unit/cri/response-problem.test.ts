import { expect, it } from 'vitest';
import type { Image } from '../../../src/generated/runtime/v1/api.js';
import {
  containerStatusProblem,
  createContainerProblem,
  imageStatusProblem,
  listImagesProblem,
  podSandboxStatusProblem,
  pullImageProblem,
  runPodSandboxProblem,
  statusProblem,
  versionProblem,
} from '../../../src/model/cri/response-problem.js';
import { aContainerStatus, aSandboxStatus } from '../cri-fixtures.js';

const sandbox = (fields: Parameters<typeof aSandboxStatus>[2]) => ({
  status: aSandboxStatus('a', 's', fields),
  info: {},
  containersStatuses: [],
  timestamp: 0n,
});
const container = (fields: Parameters<typeof aContainerStatus>[1]) => ({
  status: aContainerStatus('c', fields),
  info: {},
});
const image = (fields: Partial<Image> = {}): Image => ({
  id: 'sha256:1',
  repoTags: [],
  repoDigests: [],
  size: 1n,
  uid: undefined,
  username: '',
  spec: undefined,
  pinned: false,
  ...fields,
});
const version = { version: '0.1.0', runtimeName: 'r', runtimeVersion: '1', runtimeApiVersion: 'v1' };
const condition = (type: string) => ({ type, status: true, reason: '', message: '' });
const statusOf = (...types: string[]) => ({
  status: { conditions: types.map(condition) },
  info: {},
  runtimeHandlers: [],
  features: undefined,
});
const metadata = { name: 'pod', uid: 'a', namespace: 'ns', attempt: 0 };

it.each([
  { problem: versionProblem(version), expected: undefined },
  { problem: versionProblem({ ...version, runtimeName: '' }), expected: "the runtime's version has no runtime_name" },
  { problem: statusProblem(statusOf('RuntimeReady', 'NetworkReady')), expected: undefined },
  {
    problem: statusProblem(statusOf('RuntimeReady')),
    expected: "the runtime's status has no condition NetworkReady",
  },
  { problem: runPodSandboxProblem({ podSandboxId: 's' }), expected: undefined },
  { problem: runPodSandboxProblem({ podSandboxId: '' }), expected: "the runtime's new sandbox has no pod_sandbox_id" },
  { problem: createContainerProblem({ containerId: '' }), expected: "the runtime's new container has no container_id" },
  { problem: podSandboxStatusProblem(sandbox({})), expected: undefined },
  {
    problem: podSandboxStatusProblem({ ...sandbox({}), status: undefined }),
    expected: "the runtime's sandbox status has no status",
  },
  { problem: podSandboxStatusProblem(sandbox({ id: '' })), expected: "the runtime's sandbox status has no id" },
  {
    problem: podSandboxStatusProblem(sandbox({ metadata: undefined })),
    expected: "the runtime's sandbox status has no metadata",
  },
  {
    problem: podSandboxStatusProblem(sandbox({ metadata: { ...metadata, namespace: '' } })),
    expected: "the runtime's sandbox status has no metadata.namespace",
  },
  {
    problem: podSandboxStatusProblem(sandbox({ createdAt: 0n })),
    expected: "the runtime's sandbox status has no created_at",
  },
  { problem: containerStatusProblem(container({})), expected: undefined },
  {
    problem: containerStatusProblem(container({ metadata: { name: '', attempt: 0 } })),
    expected: "the runtime's container status has no metadata.name",
  },
  {
    problem: containerStatusProblem(container({ createdAt: 0n })),
    expected: "the runtime's container status has no created_at",
  },
  {
    problem: containerStatusProblem(container({ image: undefined })),
    expected: "the runtime's container status has no image.image",
  },
  {
    problem: containerStatusProblem(container({ imageRef: '' })),
    expected: "the runtime's container status has no image_ref",
  },
  { problem: imageStatusProblem({ image: undefined, info: {} }), expected: undefined },
  { problem: imageStatusProblem({ image: image(), info: {} }), expected: undefined },
  {
    problem: imageStatusProblem({ image: image({ size: 0n }), info: {} }),
    expected: "the runtime's image has no size",
  },
  { problem: listImagesProblem({ images: [image(), image()] }), expected: undefined },
  {
    problem: listImagesProblem({ images: [image(), image({ id: '' })] }),
    expected: "the runtime's image list has no id",
  },
  { problem: pullImageProblem({ imageRef: '' }), expected: "the runtime's pulled image has no image_ref" },
])('$expected', ({ problem, expected }) => {
  expect(problem).toBe(expected);
});
