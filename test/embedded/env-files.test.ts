import { describe, expect } from 'vitest';
import { isRoot, it } from './daemon.js';
import { eventually } from './eventually.js';

describe.runIf(isRoot).concurrent('variables from env files', () => {
  // An absolute link begins at the volume.
  const prepare = `echo "GREETING='Good morning'" > /made/env; ln -s /env /made/link`;
  const variable = { fileKeyRef: { volumeName: 'made', path: 'link', key: 'GREETING' } };
  const mount = { volumeMounts: [{ name: 'made', mountPath: '/made' }] };

  it.for([
    [{}, 'Good morning'],
    [{ featureGates: { EnvFiles: true } }, 'Good morning'],
    [{ featureGates: { EnvFiles: false } }, ''],
  ] as const)('with the configuration %j are %j', async ([configuration, expected], { daemon }) => {
    daemon.apply({
      name: 'greeter',
      restartPolicy: 'Never',
      initContainers: [{ name: 'prepare', script: prepare, ...mount }],
      containers: [
        { script: 'echo "<$GREETING> ${GREETING-unset}"', env: [{ name: 'GREETING', valueFrom: variable }] },
      ],
      volumes: [{ name: 'made', emptyDir: {} }],
    });
    await daemon.start('--config', daemon.configuration(configuration));
    const status = await daemon.reached('greeter', 'CONTAINER_EXITED');
    await eventually('the container has written its variable', () => {
      expect(daemon.output(status)).toEqual([`<${expected}> ${expected}`]);
      return true;
    });
  });
});
