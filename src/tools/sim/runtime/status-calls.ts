import { CriError } from '../../../model/cri/cri-error.js';
import type { RuntimeService } from '../../../streams/ports/runtime-service.js';
import type { RuntimeParts } from './runtime-parts.js';

/** The runtime's own name. */
export const RUNTIME_NAME = 'simulated';

/** The status of the runtime. */
export const statusCalls = ({
  transport,
}: RuntimeParts): Pick<RuntimeService, 'version' | 'status' | 'runtimeConfig' | 'updateRuntimeConfig'> => ({
  version: transport.sync('Version', () => ({
    version: '0.1.0',
    runtimeName: RUNTIME_NAME,
    runtimeVersion: '1.0.0',
    runtimeApiVersion: 'v1',
  })),
  status: transport.sync('Status', () => ({
    status: { conditions: [condition('RuntimeReady'), condition('NetworkReady')] },
    info: {},
    runtimeHandlers: [],
    features: { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false },
  })),
  updateRuntimeConfig: transport.sync('UpdateRuntimeConfig', () => ({})),
  runtimeConfig: transport.sync('RuntimeConfig', () => {
    throw new CriError('unimplemented', 'RuntimeConfig', 'method RuntimeConfig not implemented');
  }),
});

const condition = (type: string) => ({ type, status: true, reason: '', message: '' });
