type Method = (this: unknown, ...args: unknown[]) => unknown;

const METHODS: readonly (readonly [of: object, name: string])[] = [
  [Map.prototype, 'set'],
  [Set.prototype, 'add'],
  ...[new Map().values(), new Set().values(), [].values()].map(
    (iterator) => [Object.getPrototypeOf(iterator) as object, 'next'] as const,
  ),
];

/**
 * How many entries of maps, sets and lists are visited one by one, or put into the former, while something runs: copies of whole ones
 * included. It says how work grows with its input, on any machine.
 */
export const mapSteps = (run: () => unknown): number => {
  let steps = 0;
  const restores: (() => void)[] = [];
  for (let index = 0; index < METHODS.length; index++) {
    const [of, name] = METHODS[index]!;
    const descriptor = Object.getOwnPropertyDescriptor(of, name)!;
    const method = descriptor.value as Method;
    const counted: Method = function (...args) {
      steps += 1;
      return Reflect.apply(method, this, args);
    };
    restores.push(() => Object.defineProperty(of, name, descriptor));
    Object.defineProperty(of, name, { ...descriptor, value: counted });
  }
  try {
    run();
    return steps;
  } finally {
    restores.forEach((restore) => restore());
  }
};

/** By how much more is done for twice as many: 2 for work in proportion, 4 for each with each. */
export const growth = (run: (count: number) => unknown, count: number): number => {
  const once = mapSteps(() => run(count));
  return mapSteps(() => run(2 * count)) / once;
};
