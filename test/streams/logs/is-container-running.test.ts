import { firstValueFrom, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ContainerState, ContainerStatusResponse } from '../../../src/generated/runtime/v1/api.js';
import { CriError, type CriErrorCode } from '../../../src/model/cri/cri-error.js';
import { isContainerRunning } from '../../../src/streams/logs/is-container-running.js';

const asked = (answer: ReturnType<Parameters<typeof isContainerRunning>[0]['containerStatus']>): Promise<boolean> =>
  firstValueFrom(isContainerRunning({ containerStatus: () => answer }, 'c1'));

const failed = (code: CriErrorCode) => throwError(() => new CriError(code, 'ContainerStatus', 'a failure'));

describe('a container whose log is followed', () => {
  it.each<[ContainerState, boolean]>([
    [ContainerState.CONTAINER_RUNNING, true],
    [ContainerState.CONTAINER_EXITED, false],
    [ContainerState.CONTAINER_CREATED, false],
    [ContainerState.CONTAINER_UNKNOWN, false],
  ])('that is %s: more lines may follow: %s', async (state, expected) => {
    expect(await asked(of(ContainerStatusResponse.fromPartial({ status: { state } })))).toBe(expected);
  });

  it.each<[CriErrorCode, boolean]>([
    ['unavailable', true],
    ['deadline-exceeded', true],
    ['not-found', false],
  ])('of which the runtime says %s: more lines may follow: %s', async (code, expected) => {
    expect(await asked(failed(code))).toBe(expected);
  });

  it('fails with the runtime', async () => {
    await expect(asked(failed('internal'))).rejects.toThrow('a failure');
  });
});
