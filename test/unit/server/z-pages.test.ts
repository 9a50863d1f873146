import { describe, expect, it } from 'vitest';
import { acceptedForm } from '../../../src/model/server/accepted-form.js';
import { flagObject, flagText, statusObject, statusText } from '../../../src/model/server/z-pages.js';

const STRUCTURED = 'application/json;as=Statusz;v=v1beta1;g=config.k8s.io';

describe('the form of a page', () => {
  it.each([
    ['', 'text'],
    ['*/*', 'text'],
    ['text/plain', 'text'],
    ['text/*', 'text'],
    ['TEXT/PLAIN; charset=UTF-8', 'text'],
    ['text/html, */*;q=0.1', 'text'],
    [STRUCTURED, 'json'],
    ['application/json; g="config.k8s.io"; v=v1beta1; as=Statusz', 'json'],
    [`text/plain;q=0.5,${STRUCTURED}`, 'json'],
    [`text/plain,${STRUCTURED};q=0.5`, 'text'],
    ['application/json;as=Statusz;v=v9;g=config.k8s.io, text/plain;q=0.2', 'text'],
    ['application/json', undefined],
    ['application/json;as=Flagz;v=v1beta1;g=config.k8s.io', undefined],
    ['application/json;as=Statusz;v=v1beta1;g=other', undefined],
    ['text/html', undefined],
    ['text/plain;charset=latin1', undefined],
    ['text/plain;q=0', undefined],
    ['text/plain;q=much', undefined],
    [';;;,,', undefined],
  ])('for Accept: %s is %s', (accept, form) => {
    expect(acceptedForm(accept, 'Statusz')).toBe(form);
  });
});

describe('the page of the state', () => {
  const facts = {
    startedAt: Date.UTC(2026, 0, 31, 12, 0, 0, 700),
    version: '0.1.0',
    nodeVersion: 'v20.20.2',
    emulationVersion: '1.37',
    paths: ['/healthz', '/pods'],
  };
  const now = facts.startedAt + ((26 * 60 + 3) * 60 + 9) * 1_000 + 999;

  it('has one line for each fact', () => {
    const [blank, title, warning, ...lines] = statusText(facts, now, '=').split('\n');
    expect([blank, title]).toEqual(['', 'kubelet statusz']);
    expect(warning).toMatch(/^Warning: /);
    expect(lines).toEqual([
      '',
      'Started=Sat, 31 Jan 2026 12:00:00 GMT',
      'Up=26 hr 03 min 09 sec',
      'Node.js version=v20.20.2',
      'Binary version=0.1.0',
      'Emulation version=1.37',
      'Paths=/healthz /pods',
      '',
    ]);
  });

  it('is an object for programs', () => {
    expect(statusObject(facts, now)).toEqual({
      kind: 'Statusz',
      apiVersion: 'config.k8s.io/v1beta1',
      metadata: { name: 'kubelet' },
      startTime: '2026-01-31T12:00:00Z',
      uptimeSeconds: 93_789,
      goVersion: 'Node.js v20.20.2',
      binaryVersion: '0.1.0',
      emulationVersion: '1.37',
      paths: ['/healthz', '/pods'],
    });
  });

  it('is up for no negative time after the clock was set back', () => {
    expect(statusText(facts, 0, ': ')).toContain('Up: 0 hr 00 min 00 sec\n');
  });
});

describe('the page of the flags', () => {
  it('is sorted by name, with one line for each', () => {
    const flags = { v: '4', config: '/etc/a\nv: 9', 'a-b': '' };
    expect(flagText(flags, ': ').split('\n').slice(4)).toEqual(['a-b: ', 'config: /etc/a v: 9', 'v: 4', '']);
    expect(Object.keys((flagObject(flags) as { readonly flags: object }).flags)).toEqual(['a-b', 'config', 'v']);
    expect(flagObject(flags)).toMatchObject({ kind: 'Flagz', apiVersion: 'config.k8s.io/v1beta1' });
  });
});
