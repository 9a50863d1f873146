import { plainDuration } from '../values/plain-duration.js';

/** Returns the duration of a pending call to the runtime; without `call`, the wait of the pod to be read. */
export const slowCallText = (call: string | undefined, waitedMs: number): string =>
  `${call === undefined ? 'the runtime has not returned the state of the pod' : `${call} has not returned`} for ${plainDuration(waitedMs)}`;

/** Returns a call with its object: the image of a pull, else the container. */
export const callText = ({
  call,
  target,
  container,
}: {
  readonly call: string;
  readonly target?: string;
  readonly container?: string;
}): string => {
  const object = call.endsWith('Image') ? target : container;
  return object === undefined ? call : `${call} ${object}`;
};
