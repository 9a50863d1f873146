// A program of its own in the build of the command: it is large, few agents need it, and they may need it long after their start.
export { certificationRequest } from './certification-request.js';
export { stubRequest } from './stub-request.js';
