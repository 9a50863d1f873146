import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { countLineValues } from '../../../src/kube-api/json-values.js';
import { parseReply } from '../../../src/kube-api/parse-reply.js';

/** Everything is large then. */
const IN_SLICES = { atOnceBytes: 0, sliceBytes: 7 };

const outcome = async (parse: () => unknown): Promise<unknown> => {
  try {
    return { value: await parse() };
  } catch (error) {
    return { isSyntax: error instanceof SyntaxError };
  }
};

const list = fc.record(
  {
    metadata: fc.jsonValue(),
    items: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
    other: fc.record({ items: fc.array(fc.jsonValue()) }),
    'x"items': fc.array(fc.jsonValue()),
  },
  { requiredKeys: [] },
);

describe('a reply that is read in slices', () => {
  test.prop([fc.oneof(list, fc.jsonValue()), fc.constantFrom(undefined, 1)])(
    'is what JSON has it to be',
    async (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      expect(await parseReply(Buffer.from(text), IN_SLICES)).toEqual(JSON.parse(text));
    },
  );

  test.prop([list, fc.nat(), fc.constantFrom('', ',', '[', ']', '{', '}', '"', '\\', ':', '\u0000')])(
    'is none where JSON has it to be none, with anything broken beside it',
    async (value, place, instead) => {
      const text = JSON.stringify(value);
      const at = place % text.length;
      const broken = text.slice(0, at) + instead + text.slice(at + 1);
      const read = await outcome(() => parseReply(Buffer.from(broken), IN_SLICES));
      expect(read).toEqual(await outcome(() => JSON.parse(broken) as unknown));
    },
  );

  it.each([
    ['{"items":[1],"items":[2,3]}', [2, 3]],
    ['{"items":[1],"items":2}', 2],
    ['{"items":1,"items":[2]}', [2]],
    ['{ "items" : [ ] }', []],
    ['{"items":[[],[1,2],{"items":[3]}],"a":{"items":[4]}}', [[], [1, 2], { items: [3] }]],
    ['{"__proto__":{"items":[1]},"items":[5]}', [5]],
  ])('%s has the items %j', async (text, items) => {
    const read = await parseReply(Buffer.from(text), IN_SLICES);
    expect(read).toEqual(JSON.parse(text));
    expect((read as { items: unknown }).items).toEqual(items);
  });

  it('may have many items, and none with more values than an object of the API', async () => {
    const bounds = { ...IN_SLICES, mostValues: 10, mostItems: 20 };
    const read = (value: unknown) => parseReply(Buffer.from(JSON.stringify(value)), bounds);
    const item = { a: [1, 2, 3], b: 'a,b,[[[{{{,,,,,,,,' };
    await expect(read({ items: Array(20).fill(item) })).resolves.toMatchObject({ items: { length: 20 } });
    await expect(read({ items: Array(21).fill(item) })).rejects.toThrow('it has more than 20 items');
    await expect(read({ items: [item, Array(20).fill(0)] })).rejects.toThrow('an object holds more than 10 values');
    await expect(read(Array(20).fill([]))).rejects.toThrow('an object holds more than 10 values');
    await expect(read({ items: [], a: Array(20).fill(0) })).rejects.toThrow('an object holds more than 10 values');
  });
});

describe('lines of values', () => {
  test.prop([fc.array(fc.jsonValue(), { minLength: 1 }), fc.array(fc.nat())])(
    'are counted one by one, wherever they are cut',
    (values, cuts) => {
      const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
      const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
      const most = Math.max(...values.map(weightOf));
      const push = (bound: number) => {
        const count = countLineValues(bound);
        places.slice(1).forEach((end, index) => count(bytes.subarray(places[index], end)));
      };
      push(most);
      if (most > 0) expect(() => push(most - 1)).toThrow(`a line holds more than ${most - 1} values`);
    },
  );
});

/** A list or mapping, and each of its values but the first. */
const weightOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value);
  return 1 + Math.max(0, inside.length - 1) + inside.reduce((sum: number, item) => sum + weightOf(item), 0);
};
