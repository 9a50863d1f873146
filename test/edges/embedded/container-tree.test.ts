import { describe, expect, it } from 'vitest';
import { ContainerTree, type Entry } from '../../../src/runtime/embedded/mounts/container-tree.js';

const MACHINE: Readonly<Record<string, Entry>> = {
  '/etc': 'directory',
  '/etc/passwd': 'file',
  '/run': 'directory',
  '/var': 'directory',
  '/var/run': { link: '/run' },
  '/var/up': { link: '../../etc' },
  '/var/dangling': { link: 'none/../other/end' },
  '/var/outside': { link: 'none/../../run' },
  '/var/loop': { link: 'loop' },
  '/vol': 'directory',
  '/vol/link': { link: '/var/inner' },
  '/vol/here': { link: 'there' },
  '/vol/file': 'file',
};
const tree = () => new ContainerTree((path) => MACHINE[path] ?? 'missing');
const missing = (below: string, ...names: string[]) => ({
  is: 'missing',
  path: `${below === '/' ? '' : below}/${names.join('/')}`,
  below,
  names,
});

describe('a path of a container', () => {
  it.each([
    ['/', { is: 'directory', path: '/' }],
    ['//etc/./passwd/', { is: 'file', path: '/etc/passwd' }],
    ['/etc/../etc', { is: 'directory', path: '/etc' }],
    ['/var/run', { is: 'directory', path: '/run' }],
    ['/var/run/secrets/token', missing('/run', 'secrets', 'token')],
    ['/var/up/new', missing('/etc', 'new')],
    ['/var/dangling', missing('/var', 'other', 'end')],
    ['/var/outside', { is: 'directory', path: '/run' }],
    ['/data/../../etc', { is: 'directory', path: '/etc' }],
    ['/data/sub', missing('/', 'data', 'sub')],
    ['/etc/passwd/below', { is: 'impossible', why: '/etc/passwd is not a directory' }],
    ['/var/loop/x', { is: 'impossible', why: '/var/loop has too many levels of symbolic links' }],
  ])('%s leads to %o', (path, place) => expect(tree().place(path)).toEqual(place));

  it('leads into the mounts before it, whose links begin at the root of the container', () => {
    const made = tree();
    made.make('/', ['data'], true);
    made.mount({ source: '/vol', target: '/data', readonly: false, isDirectory: true });
    expect(made.place('/data/file')).toEqual({ is: 'file', path: '/data/file' });
    expect(made.place('/data/new/deep')).toEqual(missing('/data', 'new', 'deep'));
    expect(made.place('/data/link/x')).toEqual(missing('/var', 'inner', 'x'));
    expect(made.place('/data/here')).toEqual(missing('/data', 'there'));
    made.make('/data', ['new', 'deep'], false);
    expect(made.place('/data/new')).toEqual({ is: 'directory', path: '/data/new' });
    expect(made.place('/data/new/deep')).toEqual({ is: 'file', path: '/data/new/deep' });
    made.mount({ source: '/etc', target: '/data', readonly: false, isDirectory: true });
    expect(made.place('/data/new')).toEqual(missing('/data', 'new'));
  });
});
