import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readManifest } from '../../src/model/manifest/parse-manifest.js';

const FOLDER = new URL('../../examples/pods/', import.meta.url);

describe('the examples that the README runs', () => {
  it.each(readdirSync(FOLDER))('%s is a manifest without a problem', (file) => {
    const { pods, problems } = readManifest(readFileSync(new URL(file, FOLDER), 'utf8'), { file });
    expect(problems).toEqual([]);
    expect(pods.length).toBeGreaterThan(0);
  });
});
