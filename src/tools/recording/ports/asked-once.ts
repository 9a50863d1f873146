type Method = (...args: readonly unknown[]) => unknown;

/** Calls `ask` once for equal arguments, which are JSON values. */
export const askedOnce = (ask: Method): Method => {
  const answers = new Map<string, unknown>();
  return (...args) => {
    const key = JSON.stringify(args);
    if (!answers.has(key)) answers.set(key, ask(...args));
    return answers.get(key);
  };
};
