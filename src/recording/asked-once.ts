type Method = (...args: readonly unknown[]) => unknown;

/** Asks `ask` once for the same arguments, which are what JSON can hold. */
export const askedOnce = (ask: Method): Method => {
  const answers = new Map<string, unknown>();
  return (...args) => {
    const key = JSON.stringify(args);
    if (!answers.has(key)) answers.set(key, ask(...args));
    return answers.get(key);
  };
};
