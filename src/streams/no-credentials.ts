import { of } from 'rxjs';
import type { CredentialPorts } from './ports.js';

/** A node that knows no passwords: every image is pulled anonymously. */
export const noCredentials: CredentialPorts = {
  nodeCredentials: () => of([]),
  pullSecrets: () => of([]),
};
