import { describe, expect, it } from 'vitest';
import { problemForKeys, unreadEnvFile, wantedEnvFiles } from '../../../src/model/cri/env-files.js';
import { aContainer } from '../pods.js';

const fromFile = (name: string, volumeName: string, path: string, key = name) => ({
  name,
  valueFrom: { fileKeyRef: { volumeName, path, key } },
});

describe('the env files to which the environment of a container refers', () => {
  it('each file is wanted once, with all its keys, in the order of the first references', () => {
    const env = [
      fromFile('A', 'v', 'b.env'),
      { name: 'PLAIN', value: 'x' },
      fromFile('B', 'v', 'a.env'),
      fromFile('C', 'w', 'b.env'),
      fromFile('D', 'v', 'b.env', 'KEY'),
    ];
    expect(wantedEnvFiles(aContainer('web', { env }))).toEqual([
      { id: 'v/b.env', volumeName: 'v', path: 'b.env', keys: ['A', 'KEY'] },
      { id: 'v/a.env', volumeName: 'v', path: 'a.env', keys: ['B'] },
      { id: 'w/b.env', volumeName: 'w', path: 'b.env', keys: ['C'] },
    ]);
  });

  it('a container without references wants no file', () => {
    expect(wantedEnvFiles(aContainer('web'))).toEqual([]);
    expect(wantedEnvFiles(aContainer('web', { env: [{ name: 'A', value: 'x' }] }))).toEqual([]);
  });
});

describe('the problem of an env file', () => {
  const values = new Map([['A', '1']]);

  it.each([
    {
      case: 'counts if a key is missing',
      file: { path: '/f', values, problem: 'line 2' },
      keys: ['A', 'B'],
      problem: 'line 2',
    },
    {
      case: 'does not count if all keys come before it',
      file: { path: '/f', values, problem: 'line 2' },
      keys: ['A'],
      problem: undefined,
    },
    { case: 'is none of a good file without the key', file: { path: '/f', values }, keys: ['B'], problem: undefined },
    { case: 'is the reason why it could not be read', file: unreadEnvFile('/f', 'EIO'), keys: ['A'], problem: 'EIO' },
  ])('the problem of an env file $case', ({ file, keys, problem }) => {
    expect(problemForKeys(file, keys)).toBe(problem);
  });
});
